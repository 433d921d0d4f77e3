"""Draw the pictures of the README with the library itself."""

from pathlib import Path

from credalis import Consensus
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay

HERE = Path(__file__).parent

X, _ = make_four_class(random_state=0)
model = Consensus(n_clusters=4, random_state=0).fit(X)
display = CredalPartitionDisplay.from_estimator(model, X).plot()
display.figure_.savefig(HERE / "partition.png", dpi=130)
