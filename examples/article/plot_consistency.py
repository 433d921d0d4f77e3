"""
Right and precise: comparing methods by two numbers
===================================================

A credal partition may be wrong, and it may be vague. One can be traded for the other:
whoever says nothing is never wrong. So methods are compared by two numbers, their
consistency with the true classes (CI) and their nonspecificity (NS). One method
*dominates* another if it is better in one and not worse in the other. The CI-NS
diagrams of the article, on the two of its sets that come with scikit-learn.
"""

# %%
# :func:`~credalis.compare` runs several methods on the same data, here with their
# defaults, which are not the settings of the article. Its table also holds the adjusted
# Rand index of the most plausible clusters, and how much each method agrees with the
# others.
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from credalis import compare

methods = ["Consensus", "NNEVCLUS", "EVCLUS", "ECM", "CCM", "BPEC", "EGMM"]
results = {}
for load in (load_wine, load_iris):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    results[load.__name__[5:]] = compare(X, 3, methods, y, random_state=0)
print(results["wine"])

# %%
# Methods on the line are dominated by none; whatever is in the shaded area below is
# beaten by one of them. A method at the upper left is both right and precise.
figure, axes = plt.subplots(2, 1, figsize=(7, 7), layout="constrained")
for ax, (name, result) in zip(axes, results.items(), strict=True):
    result.plot(ax=ax, title=name)
plt.show()
