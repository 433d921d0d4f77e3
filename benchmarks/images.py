"""Digits by a perceptron and by a convolutional network, on images new and moved.

1000 images are clustered; the 797 others are predicted as they are and moved by a pixel
to each of four sides. Then 200 questions are answered by the true digits, and the
network goes on from where it is. The network, the paths over images moved by a pixel
and the settings are those of the gallery's example, with longer trainings.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import Score, Skipped
from credalis import NNEVCLUS
from credalis.constraints import closure, random_pairs, suggest_pairs

EXAMPLE = Path(__file__).parents[1] / "examples" / "data" / "plot_digits_cnn.py"
SEEDS = range(3)
N_CLUSTERED, N_ANSWERS = 1000, 200
N_EPOCHS, N_MORE_EPOCHS = 150, 40
MEASURES = tuple(
    f"{when}{what}"
    for when in ("", "with answers: ")
    for what in ("clustered", "new", "new, moved")
)


def run():
    """Mean adjusted Rand indices with the digits, for each network and measure."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise Skipped("PyTorch is not installed") from None
    example = pieces_of_the_example()
    images, y = load_digits(return_X_y=True)
    images = images.reshape(-1, 1, 8, 8)
    paths = example["path_lengths"](images[:N_CLUSTERED])
    found = []
    for name, distances, module, pairs in (
        ("perceptron, distances of pixels", None, None, "suggested"),
        ("perceptron, paths", paths, None, "suggested"),
        ("CNN, paths", paths, example["CNN"], "suggested"),
        ("CNN, paths, random pairs", paths, example["CNN"], "random"),
    ):
        runs = [agreements(images, y, distances, module, pairs, s) for s in SEEDS]
        for measure, values in zip(MEASURES, np.transpose(runs), strict=True):
            spread = f"from {values.min():.2f} to {values.max():.2f}"
            found.append(
                Score(
                    name, measure, values.mean(), values.std(ddof=1), len(runs), spread
                )
            )
            print(found[-1].cells, flush=True)
    return found


def pieces_of_the_example():
    """Names of the gallery's example, without the fits and the picture."""
    source = EXAMPLE.read_text("utf-8").split("# δ0 and ∅ are those of the paper")[0]
    source = source.replace("dissimilarities = path_lengths(X)\n", "")
    names = {"__name__": "example"}
    exec(compile(source, str(EXAMPLE), "exec"), names)
    return names


def agreements(images, y, distances, module, kind, seed):
    """Before and after the answers: clustered, new, new and moved."""
    X, X_new = images[:N_CLUSTERED], images[N_CLUSTERED:]
    if module is None:
        X, X_new = X.reshape(len(X), -1), X_new.reshape(len(X_new), -1)
    moved = moved_images(images[N_CLUSTERED:]).reshape(-1, *X.shape[1:])
    model = network(distances, module, seed)
    given = {} if distances is None else {"dissimilarities": distances}
    model.fit(X, **given)

    def found():
        return [
            adjusted_rand_score(y[:N_CLUSTERED], model.predict(X)),
            adjusted_rand_score(y[N_CLUSTERED:], model.predict(X_new)),
            adjusted_rand_score(np.tile(y[N_CLUSTERED:], 4), model.predict(moved)),
        ]

    before = found()
    must_link, cannot_link = answers(model, y[:N_CLUSTERED], kind, seed)
    model.set_params(warm_start=True, constraint_weight=0.1)
    if module is not None:
        model.set_params(max_iter=N_MORE_EPOCHS)
    model.fit(X, **given, must_link=must_link, cannot_link=cannot_link)
    return [*before, *found()]


def network(distances, module, seed):
    """The defaults for distances of pixels, else the settings of the example."""
    if distances is None:
        return NNEVCLUS(10, random_state=seed)
    settings = {
        "init": "evclus",
        "dissimilarity_quantile": 0.2,
        "empty_set": "stress",
        "weight_decay": 0.0,
        "random_state": seed,
    }
    if module is not None:
        settings |= {"engine": "torch", "module": module, "max_iter": N_EPOCHS}
    return NNEVCLUS(10, **settings)


def answers(model, y, kind, seed):
    """What 200 answers imply about suggested or about random pairs."""
    if kind == "random":
        return closure(*random_pairs(y, N_ANSWERS, random_state=seed), len(y))
    pairs = suggest_pairs(model.partition_, N_ANSWERS, random_state=seed)
    is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return closure(pairs[is_same], pairs[~is_same], len(y))


def moved_images(images):
    """By one pixel up, down, left and right, with an empty margin."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    sides = ((0, 1), (2, 1), (1, 0), (1, 2))
    return np.stack([padded[:, :, i : i + 8, j : j + 8] for i, j in sides])
