"""The figure of ``python -m benchmarks doubt``."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks import scores
from benchmarks.comparison import by_case

# So many of the methods that need not be named are named, by mean accuracy over
# coverages; more lines than this cannot be told apart.
N_BEST = 5
OTHERS = {"color": "0.8", "linewidth": 1, "zorder": 1}


def figure(records, reference, always_named):
    """Accuracy against coverage, and coverage against size of the sets.

    ``reference`` is the method whose sets are those of the true posteriors.
    """
    drawing = Figure(figsize=(11, 4.5), layout="constrained")
    found = {
        method: np.mean([r["curve"] for r in records if r["method"] == method], axis=0)
        for method in dict.fromkeys(record["method"] for record in records)
        if method != reference
    }
    best_first = sorted(found, key=lambda method: -found[method].mean())
    best = [method for method in best_first if method not in always_named][:N_BEST]
    styles = dict.fromkeys(best_first, OTHERS)
    named = [method for method in best_first if method in {*best, *always_named}]
    for number, method in enumerate(named):
        styles[method] = {"color": f"C{number % 10}"}
    curves, sets = drawing.subplots(1, 2)
    draw_curves(curves, found, styles)
    draw_sets(sets, records, styles | {reference: {"color": "black"}}, reference)
    drawing.legend(loc="outside right", fontsize=9)
    return drawing


def draw_curves(axes, found, styles):
    """One line for each method; those that are not named share a word."""
    is_told = False
    for method, style in styles.items():
        coverages = np.arange(1, len(found[method]) + 1) / len(found[method])
        label = method if style is not OTHERS else None if is_told else "others"
        is_told |= style is OTHERS
        axes.plot(coverages, found[method], label=label, **style)
    axes.set_xlabel("share of rows, surest first")
    axes.set_ylabel("accuracy among them")
    axes.set_title("Are the surest rows right?")


def draw_sets(axes, records, styles, reference):
    """One point for each method that gives sets, in the colour of its line."""
    for method, style in styles.items():
        of_case = by_case(records, method, "mixtures").values()
        size = scores.mean(case.get("size by Bayes") for case in of_case)
        coverage = scores.mean(case.get("coverage") for case in of_case)
        if not np.isnan([size, coverage]).any():
            label = reference if method == reference else None
            axes.plot(size, coverage, "o", label=label, **style)
    axes.axhline(0.9, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel("size of the sets at level 0.9, by that of the Bayes sets")
    axes.set_ylabel("share of rows whose set has the right cluster")
    axes.set_title("Do the sets keep their word? (mixtures)")
