"""Tables and pictures of what the study found."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.learning.calibration import _student

PLANNED, LINEAR, REHEARSED = "planned", "planned, linear law", "rehearsed"
Seeds = list[dict[str, Any]]


def write_report(folder: Path, found: dict[str, Seeds]) -> None:
    """Write `tables.md`, and pictures where matplotlib is installed."""
    good = {name: [one for one in seeds if "refused" not in one] for name, seeds in found.items()}
    good = {name: seeds for name, seeds in good.items() if len(seeds) > 2}
    text = [*rehearsals(good), *overview(good), *costs(good)]
    for name, seeds in found.items():
        text += summary(name, seeds)
    wrapped = [line if line.startswith("|") else textwrap.fill(line, 120) for line in text]
    part = folder / "tables.md.part"
    part.write_text("\n".join(wrapped))
    part.replace(folder / "tables.md")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("pictures: skipped, matplotlib is not installed")
        return
    if good:
        draw_predictions(folder / "evidence.png", good)
        draw_gains(folder / "evidence-gains.png", good)


def ranks(numbers: Any) -> Any:
    """Ranks, ties at their mean."""
    values = np.asarray(numbers)
    return np.array([((values < v).sum() + (values <= v).sum() - 1) / 2 for v in values])


def rank_correlation(first: Any, second: Any) -> float:
    """Spearman's; 0 where all predictions are the same."""
    one, other = ranks(first), ranks(second)
    return float(np.corrcoef(one, other)[0, 1]) if one.std() and other.std() else 0.0


def with_interval(numbers: Any) -> tuple[float, float, float]:
    """The mean over seeds and its 95 % interval (Student's t)."""
    values = np.asarray(numbers, dtype=float)
    if len(values) < 3:
        return float(values.mean()), math.nan, math.nan
    half = _student(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def said(numbers: Any, digits: int = 2, sign: str = "") -> str:
    """A mean with its interval."""
    mean, low, high = with_interval(numbers)
    return f"{mean:{sign}.{digits}f} ({low:{sign}.{digits}f} … {high:{sign}.{digits}f})"


def expected_best(errors: Any, count: int) -> float:
    """The least of `count` orders drawn from those that were tried, on average."""
    values = np.sort(np.asarray(errors))
    size = len(values)
    shares = [math.comb(size - 1 - i, count - 1) / math.comb(size, count) for i in range(size - count + 1)]
    return float(values[: len(shares)] @ np.array(shares))


def worth(seeds: Seeds, which: str = PLANNED) -> int | None:
    """How many random orders to try until the best of them is as good, on average; None if more than there are."""
    planned = np.mean([one["chosen"][which] for one in seeds])
    for count in range(1, min(len(one["random"]) for one in seeds) + 1):
        if np.mean([expected_best(one["random"], count) for one in seeds]) <= planned:
            return count
    return None


def gains(seeds: Seeds, which: str) -> Any:
    """By seed, the error of a chosen order minus the mean of random ones."""
    return np.array([one["chosen"][which] - np.mean(one["random"]) for one in seeds])


def _digits(seeds: Seeds) -> int:
    return 3 if np.mean([np.mean(one["random"]) for one in seeds]) > 0.1 else 4


def overview(found: dict[str, Seeds]) -> list[str]:
    """One line a setting: the law, its predictions, and what planning gains."""
    lines = [
        "## All settings",
        "",
        "| setting | seeds | R² | sum of coefficients | rank correlation, linear law | form taken | random mean | "
        "planned minus random mean | best order of the literature |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, seeds in found.items():
        digits = _digits(seeds)
        law = [one["law"] for one in seeds]
        related = {
            which: [rank_correlation(one["predicted"][which], one["random"]) for one in seeds]
            for which in (LINEAR, PLANNED)
        }
        literature = literature_of(seeds)
        best = min(literature, key=lambda which: gains(seeds, which).mean())
        lines.append(
            f"| {name} | {len(seeds)} | {np.mean([one['r_squared'] for one in law]):.2f} | "
            f"{np.mean([one['coefficient_sum']['value'] for one in law]):.2f} | {said(related[LINEAR])} | "
            f"{said(related[PLANNED])} | {np.mean([np.mean(one['random']) for one in seeds]):.{digits}f} | "
            f"{said(gains(seeds, PLANNED), digits, '+')} | {best}: {said(gains(seeds, best), digits, '+')} |"
        )
    return [*lines, ""]


def literature_of(seeds: Seeds) -> list[str]:
    """The orders of the literature among those chosen."""
    return [which for which in seeds[0]["chosen"] if which not in (PLANNED, LINEAR, REHEARSED, "travel only")]


def rehearsals(found: dict[str, Seeds]) -> list[str]:
    """One line per setting with a linear learner: what rehearsal gains, beside the law and the literature."""
    lines = [
        "## Rehearsal",
        "",
        "| setting | random mean | rehearsed | law | best order of the literature | best of the random orders | "
        "rank correlation, rehearsed | law | rehearsed minus the best rule, standard error |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, seeds in found.items():
        if REHEARSED not in seeds[0]["chosen"]:
            continue
        digits = _digits(seeds)
        rules = {which: gains(seeds, which) for which in (REHEARSED, PLANNED, *literature_of(seeds))}
        best = min((which for which in rules if which not in (REHEARSED, PLANNED)), key=lambda one: rules[one].mean())
        other = min((which for which in rules if which != REHEARSED), key=lambda one: rules[one].mean())
        apart = rules[REHEARSED] - rules[other]
        spread = apart.std(ddof=1) / math.sqrt(len(apart))
        least = np.array([np.min(one["random"]) - np.mean(one["random"]) for one in seeds])
        related = {
            which: [rank_correlation(one["predicted"][which], one["random"]) for one in seeds]
            for which in (REHEARSED, PLANNED)
        }
        lines.append(
            f"| {name} | {np.mean([np.mean(one['random']) for one in seeds]):.{digits}f} | "
            f"{said(rules[REHEARSED], digits, '+')} | {said(rules[PLANNED], digits, '+')} | "
            f"{best}: {said(rules[best], digits, '+')} | {least.mean():+.{digits}f} | {said(related[REHEARSED])} | "
            f"{said(related[PLANNED])} | {other}: {apart.mean():+.{digits}f} ± {spread:.{digits}f} |"
        )
    return [*lines, ""]


def costs(found: dict[str, Seeds]) -> list[str]:
    """What planning costs and what it is worth, in routes of training."""
    lines = [
        "## What it costs",
        "",
        "| setting | regions | trainings for D and pilots | in routes | worth the best of … random orders |",
        "|---|---|---|---|---|",
    ]
    for name, seeds in found.items():
        one = seeds[0]
        routes = one["repeats"] + one["pilots"]
        equal, tried = worth(seeds), min(len(each["random"]) for each in seeds)
        lines.append(
            f"| {name} | {one['regions']} | {routes * one['regions']} | {routes} | "
            f"{f'more than {tried}' if equal is None else equal} |"
        )
    return [*lines, ""]


def summary(name: str, found: Seeds) -> list[str]:
    """Tables of one setting, in Markdown."""
    good = [one for one in found if "refused" not in one]
    lines = [f"## {name}", ""]
    refused = [one["refused"] for one in found if "refused" in one]
    if refused:
        lines += [f"Refused in {len(refused)} of {len(found)} seeds: {refused[0]}", ""]
    if not good:
        return lines

    def law(part: str) -> Any:
        return np.array([one["law"][part]["value"] for one in good])

    explained, total = np.array([one["law"]["r_squared"] for one in good]), law("coefficient_sum")
    forms = Counter(one["law"]["form"] for one in good)
    verdicts = Counter(one["law"]["verdict"] for one in good)
    common = [one["law"]["common_retention"]["value"] for one in good if one["law"]["common_retention"]]
    rho = f", ρ {np.mean(common):.2f} where it is fitted" if common else ""
    digits = _digits(good)
    lines += [
        f"{len(good)} seeds, {good[0]['regions']} regions, {min(len(one['random']) for one in good)} random orders "
        f"each. The law: R² {explained.mean():.2f} ({explained.min():.2f} … {explained.max():.2f}), p₁ "
        f"{law('retention').mean():.2f}, q {law('coupling').mean():.2f}{rho}, sum of the coefficients of e and D "
        f"{total.mean():.2f} ({total.min():.2f} … {total.max():.2f}). Form taken: "
        f"{', '.join(f'{form} in {count}' for form, count in forms.most_common())} seeds. Verdict: "
        f"{', '.join(f'{verdict} in {count}' for verdict, count in verdicts.most_common())}.",
        "",
    ]
    lengths = good[0]["lengths"]
    lines += [
        "| | final error | minus the random mean (95 % paired interval) |" + (" travel, km |" if lengths else ""),
        "|---|---|---|" + ("---|" if lengths else ""),
        f"| random orders, mean | {np.mean([np.mean(one['random']) for one in good]):.{digits}f} | |"
        + (" |" if lengths else ""),
    ]
    baseline = np.array([np.mean(one["random"]) for one in good])
    count = min(len(one["random"]) for one in good)
    rows: dict[str, Any] = {
        "random orders, median": [np.median(one["random"]) for one in good],
        f"random orders, best of {count}": [np.min(one["random"]) for one in good],
        **{which: [one["chosen"][which] for one in good] for which in good[0]["chosen"]},
    }
    for which, values in rows.items():
        way = f" {np.mean([one['lengths'][which] for one in good]):.0f} |" if lengths and which in lengths else ""
        way = way or (" |" if lengths else "")
        lines.append(f"| {which} | {np.mean(values):.{digits}f} | {said(values - baseline, digits, '+')} |{way}")
    related = {
        which: [rank_correlation(one["predicted"][which], one["random"]) for one in good] for which in (LINEAR, PLANNED)
    }
    predicted = np.mean([one["predicted_chosen"][PLANNED] for one in good])
    change = [one["chosen"][PLANNED] - one["chosen"][LINEAR] for one in good]
    lines += [
        "",
        f"Rank correlation of predicted and measured final error over random orders: {said(related[PLANNED])}; by the "
        f"linear law alone {said(related[LINEAR])}. Planned minus planned by the linear law: "
        f"{said(change, digits, '+')}. The planned order's error was predicted to be {predicted:.{digits}f}.",
        "",
    ]
    return lines


def draw_predictions(path: Path, found: dict[str, Seeds]) -> None:
    """Predicted against measured final errors of random orders, both less their seed's mean; a panel a setting."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    across = 4
    down = -(-len(found) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(3.1 * across, 2.9 * down), squeeze=False)
    for axis in axes.ravel()[len(found) :]:
        axis.set_axis_off()
    for axis, (name, seeds) in zip(axes.ravel(), found.items(), strict=False):
        measured = np.concatenate([np.array(one["random"]) - np.mean(one["random"]) for one in seeds])
        predicted = np.concatenate(
            [np.array(one["predicted"][PLANNED]) - np.mean(one["predicted"][PLANNED]) for one in seeds]
        )
        stars = np.array(
            [
                [one["predicted_chosen"][PLANNED] - np.mean(one["predicted"][PLANNED]), gain]
                for one, gain in zip(seeds, gains(seeds, PLANNED), strict=True)
            ]
        )
        axis.scatter(predicted, measured, s=5, alpha=0.35, linewidths=0, color="#3465a4", label="random orders")
        axis.scatter(*stars.T, s=26, marker="*", color="#cc0000", label="planned orders")
        low, high = measured.min(), np.quantile(measured, 0.995)  # a few orders are far worse than all others
        wide = max(np.abs(np.append(predicted, stars[:, 0])).max() * 1.15, 1e-9)
        axis.set_xlim(-wide, wide)
        axis.set_ylim(
            min(low, stars[:, 1].min()) - 0.1 * (high - low), max(high, stars[:, 1].max()) + 0.1 * (high - low)
        )
        axis.axline((0, 0), slope=1, color="grey", linewidth=0.8, zorder=0)
        axis.axhline(0, color="lightgrey", linewidth=0.8, zorder=0)
        related = np.mean([rank_correlation(one["predicted"][PLANNED], one["random"]) for one in seeds])
        axis.set_title(f"{_broken(name)}\nrank correlation {related:.2f}", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.ticklabel_format(axis="both", style="plain", useOffset=False)
        axis.locator_params(nbins=5)
    axes[0, 0].legend(fontsize=7, loc="upper left")
    figure.supxlabel("predicted final error, less its mean over random orders", fontsize=9)
    figure.supylabel("measured final error, less its mean", fontsize=9)
    figure.tight_layout()
    _save(figure, path)


def draw_gains(path: Path, found: dict[str, Seeds]) -> None:
    """What each rule gains against the mean of random orders, in per cent of that mean, with 95 % intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rules = {REHEARSED: "#7b1fa2", PLANNED: "#cc0000",
             LINEAR: "#ef9a9a", "longest path": "#3465a4", "periphery to core": "#73a946",
             "most dissimilar next": "#c17d11", "travel only": "#888888"}  # fmt: skip
    figure, axis = pyplot.subplots(figsize=(8.5, 1.2 + 0.62 * len(found)))
    for row, seeds in enumerate(found.values()):
        level = np.mean([np.mean(one["random"]) for one in seeds]) / 100
        for k, (rule, colour) in enumerate(rules.items()):
            if rule in seeds[0]["chosen"]:
                mean, low, high = (value / level for value in with_interval(gains(seeds, rule)))
                place = row + (k - 3) * 0.12
                axis.plot([low, high], [place, place], color=colour, linewidth=1.4)
                axis.plot(mean, place, "o", color=colour, markersize=4, label=rule if row == 0 else None)
    for rule in rules.keys() - next(iter(found.values()))[0]["chosen"].keys():
        axis.plot([], [], "o", color=rules[rule], markersize=4, label=rule)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(found)), [_broken(name) for name in found], fontsize=8)
    axis.invert_yaxis()
    low, high = axis.get_xlim()
    axis.set_xlim(max(low, -100), min(high, 100))
    axis.set_xlabel("final error against the mean of random orders, per cent (below 0 is better)", fontsize=9)
    axis.grid(axis="x", color="lightgrey", linewidth=0.5)
    figure.legend(fontsize=8, loc="upper center", ncol=3, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.5 / figure.get_figheight()))
    _save(figure, path)


def _broken(name: str) -> str:
    return name.replace(", ", ",\n")


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    part = path.with_name(f"{path.stem}.part.png")
    figure.savefig(part, dpi=110)
    part.replace(path)
    pyplot.close(figure)
