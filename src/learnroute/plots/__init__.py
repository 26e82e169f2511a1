"""Pictures: what was planned, compared, simulated, and swept. Needs matplotlib."""

from learnroute.plots.compared_learners import draw_learners, save_learners
from learnroute.plots.comparisons import draw_comparison, save_comparison
from learnroute.plots.pictures import check_picture
from learnroute.plots.ratios import draw_ratios, save_ratios
from learnroute.plots.robust import draw_robustness, save_robustness
from learnroute.plots.routes import draw_plan, save_plan
from learnroute.plots.simulations import draw_simulations, save_simulations
from learnroute.plots.tradeoffs import draw_tradeoff, save_tradeoff
from learnroute.plots.visit_curves import draw_visit_curve, save_visit_curve

__all__ = [
    "check_picture",
    "draw_comparison",
    "draw_learners",
    "draw_plan",
    "draw_ratios",
    "draw_robustness",
    "draw_simulations",
    "draw_tradeoff",
    "draw_visit_curve",
    "save_comparison",
    "save_learners",
    "save_plan",
    "save_ratios",
    "save_robustness",
    "save_simulations",
    "save_tradeoff",
    "save_visit_curve",
]
