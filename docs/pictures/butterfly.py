"""The butterfly: twelve objects, their masses, and what each partition can say."""

import matplotlib.pyplot as plt

from credalis import ECM
from credalis.datasets import load_butterfly
from credalis.plots import CredalPartitionDisplay, MassDisplay

X = load_butterfly().data
model = ECM(2, delta=4, random_state=0).fit(X)
names = [str(i) for i in range(len(X))]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
display = CredalPartitionDisplay.from_partition(model.partition_, X)
display.plot(ax=left, title="Twelve objects", legend=False)
for i, (a, b) in enumerate(X):
    left.annotate(str(i), (a, b), xytext=(5, 5), textcoords="offset points")
MassDisplay.from_estimator(model, kind="bars", order=None, object_names=names).plot(
    ax=right, title="Their masses"
)
right.tick_params(axis="x", rotation=0)
plt.show()
