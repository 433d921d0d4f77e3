"""
Documents of a topic, of two, and of none
=========================================

Topic models cluster embeddings of documents and leave out those that belong nowhere.
How many are left out is usually the result of a density. Here it is chosen: those that
mix topics and those that have none come first.
"""

# %%
# Short documents of words of three topics. Some mix two topics, some have words of
# their own.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from credalis.plots import cluster_colors
from credalis.topics import TopicClusterer

rng = np.random.default_rng(0)
vocabulary = """
goal match team player coach league score striker referee season
bank market share price profit loan interest trade fund investor
planet star orbit telescope galaxy comet rocket moon gravity probe
soup bread garden violin winter carpet holiday bridge candle puppy
"""
*topics, other = [line.split() for line in vocabulary.strip().splitlines()]
everything = vocabulary.split()
documents, kinds = [], []
for kind in range(3):
    for _ in range(60):
        documents.append(" ".join(rng.choice(topics[kind], 12)))
        kinds.append(kind)
for _ in range(12):
    first, second = rng.choice(3, 2, replace=False)
    mixed = [*rng.choice(topics[first], 6), *rng.choice(topics[second], 6)]
    documents.append(" ".join(mixed))
    kinds.append(3)
for _ in range(8):
    documents.append(" ".join([*rng.choice(other, 6), *rng.choice(everything, 6)]))
    kinds.append(4)
kinds = np.array(kinds)

# %%
# Embeddings. Those of a language model would take this place.
weights = TfidfVectorizer().fit_transform(documents)
embeddings = normalize(TruncatedSVD(5, random_state=0).fit_transform(weights))

# %%
# A tenth of the documents gets no topic. The model goes into BERTopic as it is:
# ``BERTopic(hdbscan_model=model)``.
model = TopicClusterer(n_clusters=3, outlier_share=0.1, random_state=0)
labels = model.fit(embeddings).labels_
partition = model.estimator_.partition_
left_out = np.array([(labels[kinds == kind] == -1).mean() for kind in (3, 4)])

# %%
# Two of the dimensions, and how certain each document is.
_, (ax, bars) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
colors = {-1: "0.5", **dict(enumerate(cluster_colors(3)))}
for k, color in colors.items():
    rows = labels == k
    name = "no topic (-1)" if k == -1 else f"topic {k}"
    marker = "x" if k == -1 else "o"
    ax.scatter(*embeddings[rows, 1:3].T, color=color, marker=marker, s=25, label=name)
ax.legend()
ax.set_xlabel("second dimension of the embedding")
ax.set_ylabel("third dimension")
names = ["one topic", "two topics", "mostly none"]
groups = [kinds < 3, kinds == 3, kinds == 4]
bars.bar(names, [partition.doubt[rows].mean() for rows in groups], color="0.6")
bars.set_ylabel("mean doubt")
bars.set_title(f"left out: {left_out[0]:.0%} of two topics, {left_out[1]:.0%} of none")
plt.show()
