"""Draw the pictures of the README with the library itself."""

from pathlib import Path

import matplotlib.pyplot as plt

from credalis import Consensus
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay

HERE = Path(__file__).parent

X, _ = make_four_class(random_state=0)
model = Consensus(n_clusters=4, random_state=0).fit(X)
# Its words are read on a phone as well: large, and the legend below.
with plt.rc_context({"font.size": 13}):
    figure, ax = plt.subplots(figsize=(7, 6.6), layout="constrained")
    CredalPartitionDisplay.from_estimator(model, X).plot(ax=ax)
    beside = ax.get_legend()
    words = [text.get_text() for text in beside.get_texts()]
    beside.remove()
    ax.set_aspect("equal")
    figure.legend(
        beside.legend_handles, words, loc="outside lower center", ncols=3, frameon=False
    )
figure.savefig(HERE / "partition.png", dpi=110)
