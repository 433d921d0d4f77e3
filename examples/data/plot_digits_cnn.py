"""
Which handwritten digits are doubtful, and what do 200 questions change?
========================================================================

A small convolutional network takes the place of the perceptron. It needs PyTorch: ``pip
install credalis[torch]``.
"""

# %%
# Images of 8 x 8 pixels: 600 of them are clustered into ten groups, the rest is new.
import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from torch import nn

from credalis import NNEVCLUS
from credalis.constraints import closure, suggest_pairs

images, digits = load_digits(return_X_y=True)
images = images.reshape(-1, 1, 8, 8)
X, y = images[:600], digits[:600]
X_new, y_new = images[600:], digits[600:]


# %%
# What is known about images goes into the dissimilarities: a digit stays the same when
# it moves by a pixel, and when it changes little by little. So the distance of two
# images is the smallest over one-pixel shifts, and dissimilarities are lengths of
# shortest paths over ten nearest neighbours.
def shifted(X, rows, columns):
    """Images moved by -1, 0 or 1 pixel, with an empty margin."""
    padded = np.pad(X, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return padded[:, :, 1 + rows : 9 + rows, 1 + columns : 9 + columns]


def path_lengths(X, n_neighbors=10):
    n_samples = len(X)
    flat = X.reshape(n_samples, -1)
    moves = [(rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1)]
    distances = np.min(
        [cdist(flat, shifted(X, *move).reshape(n_samples, -1)) for move in moves],
        axis=0,
    )
    distances = np.minimum(distances, distances.T)
    nearest = distances.argsort(axis=1)[:, 1 : n_neighbors + 1].ravel()
    rows = np.repeat(np.arange(n_samples), n_neighbors)
    graph = csr_array(
        (distances[rows, nearest], (rows, nearest)), shape=distances.shape
    )
    return shortest_path(graph.maximum(graph.T), directed=False)


dissimilarities = path_lengths(X)


# %%
# The module is called with the number of focal sets and returns one number for each. In
# training it sees every image moved at random by up to a pixel.
class RandomShift(nn.Module):
    def forward(self, x):
        if not self.training:
            return x
        pixels, n_images = torch.arange(8), len(x)
        rows = torch.randint(3, (n_images, 1, 1)) + pixels[:, None]
        columns = torch.randint(3, (n_images, 1, 1)) + pixels
        padded = nn.functional.pad(x, (1, 1, 1, 1))
        return padded[torch.arange(n_images)[:, None, None], 0, rows, columns][:, None]


class CNN(nn.Sequential):
    def __init__(self, n_outputs):
        super().__init__(
            RandomShift(),
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(64, n_outputs),
        )


# δ0 and ∅ are those of the paper: pairs far apart are few, and mass on ∅ is doubt, too.
model = NNEVCLUS(
    10,
    engine="torch",
    module=CNN,
    init="evclus",
    dissimilarity_quantile=0.2,
    empty_set="stress",
    weight_decay=0.0,
    max_iter=60,
    random_state=0,
)
model.fit(X, dissimilarities=dissimilarities)


def agreement(model):
    """Adjusted Rand indices on the clustered and on the new images."""
    return [
        adjusted_rand_score(truth, model.predict(some))
        for some, truth in ((X, y), (X_new, y_new))
    ]


before = agreement(model)
doubt = model.partition_.doubt

# %%
# The partition says which pairs it cannot judge. A person would answer; here the true
# digits do. What 200 answers imply is worked out, and the network goes on from where it
# is.
pairs = suggest_pairs(model.partition_, 200, random_state=0)
is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
must_link, cannot_link = closure(pairs[is_same], pairs[~is_same], len(X))
model.set_params(warm_start=True, max_iter=20, constraint_weight=0.1)
model.fit(
    X,
    dissimilarities=dissimilarities,
    must_link=must_link,
    cannot_link=cannot_link,
)
after = agreement(model)

# %%
# The images that the first network was least and most sure of.
order = np.argsort(doubt, kind="stable")
figure, grid = plt.subplots(4, 10, figsize=(9, 4.6), layout="constrained")
for ax, row in zip(grid.flat, [*order[-20:], *order[:20]], strict=True):
    ax.imshow(X[row, 0], cmap="gray_r")
    ax.set_title(f"{y[row]}: {doubt[row]:.2f}", fontsize=8)
    ax.axis("off")
figure.suptitle(
    "Digit and doubt: above the most doubtful, below the clearest images\n"
    f"Adjusted Rand index {before[0]:.2f}, new images {before[1]:.2f}; "
    f"after 200 answers {after[0]:.2f}, new images {after[1]:.2f}",
    fontsize=10,
)
plt.show()
