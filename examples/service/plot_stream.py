"""
When does a new cluster appear in a stream?
===========================================

A model of three groups watches a stream. At first a few scattered outliers come along;
from object 2000 on, there is a fourth group. The monitor tells one from the other, and
the network learns the new group without forgetting the old ones.
"""

# %%
# A model, and a monitor calibrated on objects that the model has not seen. It gives a
# false alarm with a probability of at most 0.01, however long the stream.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS
from credalis.plots import CredalPartitionDisplay, cluster_colors
from credalis.streaming import NewClusterMonitor

centers = [[0, 0], [8, 0], [4, 7], [12, 7]]
X, _ = make_blobs(900, centers=centers[:3], random_state=0)
model = NNEVCLUS(3, novelty_detector="ocsvm", random_state=0).fit(X[:300])
monitor = NewClusterMonitor(model, false_alarm_rate=0.01, random_state=0).fit(X[300:])

# %%
# The stream: three groups and 3 % outliers, then four groups.
rng = np.random.default_rng(0)
before, _ = make_blobs(2000, centers=centers[:3], random_state=1)
is_outlier = rng.random(2000) < 0.03
before[is_outlier] = rng.uniform([-8, -8], [20, 15], size=(is_outlier.sum(), 2))
after, _ = make_blobs(200, centers=centers, random_state=2)
stream = np.concatenate([before, after])
evidence = []
for batch in np.split(stream, 220):
    monitor.update(batch)
    evidence.append(monitor.log_evidence_)
[cluster] = monitor.propose()
larger = monitor.extend()

# %%
# Above: the evidence for a new cluster. Below: the rejected objects, and what the
# extended network says of all objects.
blue, orange, _, wine = cluster_colors(4)
fig = plt.figure(figsize=(10, 7.5), layout="constrained")
top, bottom = fig.subfigures(2, 1, height_ratios=(2, 3))
ax = top.subplots()
ax.plot(10 * np.arange(1, 221), evidence, color=blue)
limit = -np.log(monitor.false_alarm_rate)
ax.axhline(limit, color="black", linestyle=":", label="enough for an alarm")
ax.axvline(2000, color="0.5", linestyle="--", label="the new cluster begins")
ax.axvline(monitor.alarm_at_, color=wine, label="alarm")
ax.set(xlabel="objects of the stream", ylabel="logarithm of the evidence")
ax.set_title(f"Alarm {monitor.alarm_at_ - 2000} objects after the new cluster begins")
ax.legend(loc="upper left")
left, right = bottom.subplots(1, 2)
left.scatter(*stream.T, s=4, color="lightgray", label="stream")
left.scatter(*monitor.rejected_.T, s=8, color=orange, label="rejected")
left.scatter(*cluster.objects.T, s=8, color=wine, label="proposed as a cluster")
left.set_title(f"{cluster.size} of {monitor.n_rejected_} rejected objects gather")
left.set(xlabel="feature 0", ylabel="feature 1", ylim=(-15, 16))
left.legend(loc="lower left")
partition = larger.predict_partition(stream)
display = CredalPartitionDisplay.from_partition(partition, stream)
display.plot(ax=right, title="The extended network")
plt.show()
