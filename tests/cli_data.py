"""Small tables for the tests of the command line."""

import numpy as np

N_ROWS = 60


def flowers(seed=0, n_rows=N_ROWS):
    """Two groups: identifier, two numbers, a colour and the class, as text."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 2
    lines = ["id,height,width,colour,kind"]
    for i, k in enumerate(group):
        height, width = rng.normal([10 + 20 * k, 2 + k], [2, 0.1])
        colour = "red" if rng.random() < 0.9 - 0.8 * k else "blue"
        lines.append(f"f{i:03d},{height:.3f},{width:.4f},{colour},{'ab'[k]}")
    return "\n".join(lines) + "\n"


# Options that make the table above clusterable, with a quick method.
GOOD = ("--id", "id", "--exclude", "colour,kind", "-m", "ECM")
