"""Pictures of plans, comparisons, simulations and sweeps. Needs matplotlib."""

from learnroute.plots.calibrations import draw_calibration
from learnroute.plots.compared_learners import draw_learners
from learnroute.plots.comparisons import draw_comparison
from learnroute.plots.fleets import draw_fleets
from learnroute.plots.matrices import draw_estimate, draw_following, draw_transfer
from learnroute.plots.pictures import check_picture
from learnroute.plots.ratios import draw_ratios
from learnroute.plots.rehearsals import draw_rehearsal
from learnroute.plots.robust import draw_robustness
from learnroute.plots.routes import draw_plan
from learnroute.plots.simulations import draw_simulations
from learnroute.plots.tradeoffs import draw_tradeoff
from learnroute.plots.visit_curves import draw_visit_curve

__all__ = [
    "check_picture",
    "draw_calibration",
    "draw_comparison",
    "draw_estimate",
    "draw_fleets",
    "draw_following",
    "draw_learners",
    "draw_plan",
    "draw_ratios",
    "draw_rehearsal",
    "draw_robustness",
    "draw_simulations",
    "draw_tradeoff",
    "draw_transfer",
    "draw_visit_curve",
]
