"""
Which pixels of an image are mixed?
===================================

A satellite sees water, fields and forest through pixels that are larger than the
borders between them: along borders, a pixel is two things at once. A hard segmentation
cannot say so. The lower map of a class holds the pixels that certainly belong to it,
the upper map those that possibly do; between both are the mixed pixels.
"""

# %%
# An image in three bands. A pixel is the mean of 4 x 4 finer ones, each of one class.
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

from credalis import ECM

rng = np.random.default_rng(2)
fields = gaussian_filter(rng.normal(size=(3, 240, 240)), (0, 24, 24), mode="wrap")
classes = fields.argmax(axis=0)
colors = np.array([[0.1, 0.25, 0.5], [0.75, 0.7, 0.3], [0.15, 0.45, 0.2]])
fine = colors[classes] + 0.08 * rng.normal(size=(240, 240, 3))
image = fine.reshape(60, 4, 60, 4, 3).mean(axis=(1, 3))
shares = (classes[..., None] == np.arange(3)).reshape(60, 4, 60, 4, 3).mean(axis=(1, 3))
is_mixed = shares.max(axis=2) < 0.9

# %%
# Pixels are rows of three numbers; where they are in the image is not used.
partition = ECM(3, alpha=0.5, random_state=0).fit(image.reshape(-1, 3)).partition_
lower = partition.lower_approximation("interval_dominance").reshape(60, 60, 3)
upper = partition.upper_approximation("interval_dominance").reshape(60, 60, 3)
between = upper.sum(axis=2) > 1
found = (between & is_mixed).sum() / is_mixed.sum()

# %%
# The maps, and the pixels that are in more than one upper map.
_, axes = plt.subplots(2, 4, figsize=(10, 5.4), layout="constrained")
axes[0, 0].imshow(np.clip(image, 0, 1))
axes[0, 0].set_title("image")
axes[1, 0].imshow(between, cmap="gray_r")
axes[1, 0].set_title(f"between classes:\n{found:.0%} of the mixed pixels")
for k in range(3):
    axes[0, k + 1].imshow(lower[..., k], cmap="gray_r")
    axes[0, k + 1].set_title(f"lower map of class {k}")
    axes[1, k + 1].imshow(upper[..., k], cmap="gray_r")
    axes[1, k + 1].set_title(f"upper map of class {k}")
for ax in axes.flat:
    ax.set_xticks([])
    ax.set_yticks([])
plt.show()
