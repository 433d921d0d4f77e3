"""Colours of the charts on a dark page.

The charts are drawn in light colours; the page exchanges each for its partner here
where the reader prefers a dark scheme. On paper they stay light.
"""

from credalis._drawing.palette import (
    DARK_GROUND,
    GRID,
    INK,
    SOFT_INK,
    cluster_colors,
    darkened,
    hex_color,
    on_dark,
)
from credalis.report._charts.chart import DENSITY, DIVERGING, PALE_BLUE, SEQUENTIAL

_DARK_SEQUENTIAL = ("#1a222b", "#22425f", "#2f73a8", "#69aee0", "#d3e9fb")
_DARK_DIVERGING = ("#4aa3df", "#2a323b", "#f08a4b")
_DARK_DENSITY = ("#1d252d", "#6d7781")


def dark_colors(n_clusters: int) -> dict[str, str]:
    """For each colour of the charts, in lower case, the one on a dark page."""
    partners = {
        "white": DARK_GROUND,
        "#ffffff": DARK_GROUND,
        "black": "#ffffff",
        INK: "#dde3ea",
        SOFT_INK: "#97a2ae",
        GRID: "#28313a",
        PALE_BLUE: "#22303d",
    }
    for scale, dark in (
        (SEQUENTIAL, _DARK_SEQUENTIAL),
        (DIVERGING, _DARK_DIVERGING),
        (DENSITY, _DARK_DENSITY),
    ):
        partners |= {
            str(color): partner for (_, color), partner in zip(scale, dark, strict=True)
        }
    for color in cluster_colors(max(n_clusters, 8)):
        for shade in (hex_color(color), hex_color(darkened(color, 0.1))):
            partners[shade] = on_dark(shade)
    return {color.lower(): partner for color, partner in partners.items()}
