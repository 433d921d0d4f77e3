"""The figure of ``python -m benchmarks doubt``."""

import numpy as np
from matplotlib.figure import Figure

from benchmarks import scores
from benchmarks.comparison import by_case

# Methods by mean accuracy over coverages: so many have a colour, the rest is grey.
N_COLOURS = 10


def figure(records, reference):
    """Accuracy against coverage, and coverage against size of the sets.

    ``reference`` is the method whose sets are those of the true posteriors.
    """
    drawing = Figure(figsize=(11, 5), layout="constrained")
    curves, sets = drawing.subplots(1, 2)
    found = {
        method: np.mean([r["curve"] for r in records if r["method"] == method], axis=0)
        for method in dict.fromkeys(record["method"] for record in records)
        if method != reference
    }
    best_first = sorted(found, key=lambda method: -found[method].mean())
    colours = dict.fromkeys(best_first, "0.6") | {
        method: f"C{number}" for number, method in enumerate(best_first[:N_COLOURS])
    }
    draw_curves(curves, {method: found[method] for method in best_first}, colours)
    draw_sets(sets, records, colours | {reference: "black"})
    return drawing


def draw_curves(axes, found, colours):
    """One line for each method, the best in front."""
    for method, curve in reversed(found.items()):
        coverages = np.arange(1, len(curve) + 1) / len(curve)
        axes.plot(coverages, curve, color=colours[method], label=method)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], fontsize=7, ncols=2, loc="lower left")
    axes.set_xlabel("share of rows, surest first")
    axes.set_ylabel("accuracy among them")
    axes.set_title("Are the surest rows right?")


def draw_sets(axes, records, colours):
    """One named point for each method that gives sets."""
    for method, colour in colours.items():
        of_case = by_case(records, method, "mixtures").values()
        size = scores.mean(case.get("size by Bayes") for case in of_case)
        coverage = scores.mean(case.get("coverage") for case in of_case)
        if not np.isnan([size, coverage]).any():
            axes.plot(size, coverage, "o", color=colour)
            axes.annotate(
                method,
                (size, coverage),
                xytext=(5, 3),
                textcoords="offset points",
                fontsize=7,
            )
    axes.axhline(0.9, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel("size of the sets at level 0.9, by that of the Bayes sets")
    axes.set_ylabel("share of rows whose set has the right cluster")
    axes.set_title("Do the sets keep their word? (mixtures)")
