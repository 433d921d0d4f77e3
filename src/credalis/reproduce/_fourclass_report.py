"""The fourclass example in the report."""

from pathlib import Path

from credalis._files import atomic_write
from credalis.reproduce._experiment import Experiment, Part, Shown
from credalis.reproduce._figures import lines
from credalis.reproduce._findings import NOT_RUN, Finding, judge
from credalis.reproduce._fourclass import (
    DECAYS,
    HIDDEN,
    N_QUICK_STARTS,
    N_STARTS,
    NAME,
    cells,
    study_name,
)
from credalis.reproduce._published import published
from credalis.reproduce._render import Picture, Text
from credalis.reproduce._runner import Results
from credalis.reproduce._tables import finding_table, pictures_of

# A loss within three percent is the same minimum from another draw of pairs.
RELATIVE_TOLERANCE = 0.03

CAPTIONS = {
    "evclus-partition": "EVCLUS: lower (solid) and upper (broken) approximations of "
    "the four clusters; outliers are marked.",
    "evclus-convergence": "EVCLUS: loss against iterations.",
    "evclus-shepard": "EVCLUS: conflict against transformed dissimilarity.",
    "delta-bel": "δ–Bel graph with 50 neighbours and q = 0.9: the four centres are at "
    "the upper right.",
    "svm": "One-class SVM (ν = 0.2, σ = 0.2): f(x); the white line is f(x) = 0.",
    "nn-empty": "NN-EVCLUS: mass on ∅.",
    "nn-learning-curve": "NN-EVCLUS: learning curve; the broken line is the published "
    "loss of EVCLUS.",
    "nn-shepard": "NN-EVCLUS: conflict against transformed dissimilarity.",
    "nn-partition": "NN-EVCLUS: approximations of the four clusters.",
    "nn-prediction": "NN-EVCLUS: predicted approximations for 1000 new vectors of the "
    "same distribution.",
    "nn-singletons": "NN-EVCLUS: masses on the four clusters.",
    "nn-pairs": "NN-EVCLUS: masses on the pairs of contiguous clusters.",
    "nn-plausibility": "NN-EVCLUS: plausibilities of the four clusters.",
}


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """Losses beside the published ones, and all figures."""
    found = [
        _loss_finding(results, "evclus", "EVCLUS", "loss_evclus"),
        _loss_finding(results, "nn-evclus", "NN-EVCLUS", "loss_nn_evclus"),
        *_claims(results),
    ]
    parts: list[Part] = [
        Text(
            "400 vectors of four bivariate t distributions, as they are (no scaling); "
            "∅, the clusters, their pairs and Ω as focal sets; 100 pairs for each "
            "object; NN-EVCLUS with 20 hidden units and the one-class SVM of the "
            "paper, best of five starts. The losses are means over the pairs drawn."
        ),
        finding_table(found, "Every value", ("model", "quantity")),
        *pictures_of(results, NAME, CAPTIONS, directory),
        *_study(results, directory),
    ]
    return Shown(parts, found)


def _loss_finding(results: Results, cell: str, row: str, key: str) -> Finding:
    printed = published()["fourclass"][key]
    values = results.values(NAME, cell)
    if values is None:
        return Finding(row, "loss × 1000", 1000 * printed, (), None, NOT_RUN)
    verdict = judge(
        printed, values["loss"], RELATIVE_TOLERANCE * printed, lower_is_better=True
    )
    ours = 1000 * values["loss"]
    why = f"ARI {values['ari']:.3f}, {values['outliers']} outliers"
    return Finding(row, "loss × 1000", 1000 * printed, (ours,), ours, verdict, why)


def _claims(results: Results) -> list[Finding]:
    """What the text says and can be counted; 1 stands for true."""
    found = []
    peaks = results.values(NAME, "delta-bel")
    if peaks is not None:
        holds = float(peaks["classes"] == [0, 1, 2, 3])
        found.append(
            Finding(
                "δ–Bel",
                "the four centres are of the four classes",
                1.0,
                (holds,),
                holds,
                judge(1.0, holds, 0.0),
            )
        )
    network = results.values(NAME, "nn-evclus")
    if network is not None:
        # "Correctly identified" has no number in the paper: as well as on the data.
        gap = network["new_ari"] - network["ari"]
        holds = float(gap >= -0.05 and network["new_outliers"] > 0)
        found.append(
            Finding(
                "NN-EVCLUS",
                "new vectors and outliers are identified",
                1.0,
                (holds,),
                holds,
                judge(1.0, holds, 0.0),
                f"ARI {network['new_ari']:.3f} on new vectors, {network['ari']:.3f} on "
                f"the data; {network['new_outliers']} of 1000 new ones are outliers",
            )
        )
    return found


def _study(results: Results, directory: Path) -> list[Part]:
    """Loss against the number of hidden units, and against weight decay."""
    parts: list[Part] = []
    printed = published()["fourclass"]
    hidden = _curve(results, [(n, 0.0) for n in HIDDEN])
    if hidden:
        x = [n for (n, _), _ in hidden]
        parts += _study_parts(
            "loss-hidden",
            x,
            [values for _, values in hidden],
            "hidden units n_H",
            "linear",
            f"The paper's test loss reaches a plateau at {printed['n_hidden_plateau']} "
            "hidden units.",
            directory,
        )
    decay = _curve(results, [(50, each) for each in DECAYS if each > 0])
    if decay:
        x = [each for (_, each), _ in decay]
        parts += _study_parts(
            "loss-decay",
            x,
            [values for _, values in decay],
            "weight decay λ, with 50 hidden units",
            "log",
            "The paper's test loss is smallest at λ = "
            f"{printed['weight_decay_minimum']:g}.",
            directory,
        )
    return parts


def _curve(results: Results, settings: list[tuple[int, float]]) -> list:
    """Settings and values, those of the full run if there are any."""
    for n_init in (N_STARTS, N_QUICK_STARTS):
        found = [(s, results.values(NAME, study_name(*s, n_init))) for s in settings]
        curve = [(each, values) for each, values in found if values is not None]
        if curve:
            return curve
    return []


def _study_parts(
    name: str,
    x: list,
    values: list[dict[str, float]],
    label: str,
    scale: str,
    published_text: str,
    directory: Path,
) -> list[Part]:
    train = [each["train"] for each in values]
    test = [each["test"] for each in values]
    file = directory / "figures" / f"{NAME}-{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(
            lines(
                x,
                {"training": train, "new vectors": test},
                x_label=label,
                y_label="loss",
                x_scale=scale,
            )
        )
    lowest = x[test.index(min(test))]
    caption = (
        f"Loss on the training set and on new vectors against {label}. Ours on new "
        f"vectors is smallest at {lowest:g}. {published_text}"
    )
    return [Picture(file, caption)]


EXPERIMENT = Experiment(NAME, "fourclass: EVCLUS and NN-EVCLUS", cells, show)
