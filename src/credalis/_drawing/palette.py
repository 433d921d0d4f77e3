"""Colours, markers and hatches: told apart by eyes of any kind, and without colour.

The first eight colours follow the hues of Okabe and Ito, with lightnesses at least six
L* units apart, so that they also differ in a grey print and for colour-blind readers.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_integer
from credalis.belief import FocalSets

Colors = NDArray[np.float64]

BASE_COLORS = (
    "#0069A8",  # blue
    "#F0A30A",  # orange
    "#009E76",  # green
    "#7A1040",  # wine
    "#8FD3F5",  # sky
    "#D5470C",  # vermilion
    "#DD86B3",  # pink
    "#5A5200",  # olive
)
# Eleven markers and sixty-four colours: a pair comes back after 704 clusters.
MARKERS = ("o", "s", "^", "D", "v", "p", "<", "h", ">", "d", "*")
MAX_COLORS = 64
# Area of a marker relative to that of "o" at the same visual weight.
MARKER_AREAS = {
    **dict.fromkeys("^v<>", 1.2),
    **dict.fromkeys("hd", 1.1),
    "s": 0.9,
    "D": 0.75,
    "p": 1.15,
    "*": 1.6,
}

INK = "#333333"
SOFT_INK = "#777777"
GRID = "#E9E9E9"
# What dark pages are drawn on.
DARK_GROUND = "#12171d"
SEQUENTIAL = "Blues"

_HATCHES = ("////", "\\\\\\\\", "xxxx", "||||", "----", "++++", "oooo", "....")


@dataclass(frozen=True, eq=False)
class SetStyle:
    """How the area of one focal set is filled."""

    face: Any
    hatch: str | None = None
    hatch_color: Any = INK


def cluster_colors(n_clusters: int) -> Colors:
    """Colours of clusters that eyes of any kind can tell apart.

    The first eight differ in a grey print, too. Beyond, each colour is the one farthest
    from all before it, for normal and for red-green-blind eyes; after 64 the colours
    come back.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.

    Returns
    -------
    array of shape (n_clusters, 3)
        Red, green and blue, from 0 to 1. Cluster k has the same colour whatever the
        number of clusters.

    Examples
    --------
    >>> from credalis.plots import cluster_colors
    >>> cluster_colors(3)[[0, 0, 2]].round(2)
    array([[0.  , 0.41, 0.66],
           [0.  , 0.41, 0.66],
           [0.  , 0.62, 0.46]])
    """
    n_clusters = check_integer("n_clusters", n_clusters, at_least=0)
    if n_clusters <= len(BASE_COLORS):
        return _base_colors()[:n_clusters].copy()
    return _spaced_colors()[np.arange(n_clusters) % MAX_COLORS]


def cluster_markers(n_clusters: int) -> list[str]:
    """Marker of each cluster."""
    return [MARKERS[k % len(MARKERS)] for k in range(n_clusters)]


def marker_area(marker: str) -> float:
    """Factor on the area of a marker, so that all look equally large."""
    return MARKER_AREAS.get(marker, 1.0)


def mixed_color(colors: Colors) -> Colors:
    """What light of these colours (n, 3) together looks like, shape (3,)."""
    return _to_srgb(_to_linear(colors).mean(axis=0))


def hex_color(color: Colors) -> str:
    """A colour as style sheets write it, as in "#0069a8"."""
    red, green, blue = (round(255 * share) for share in color)
    return f"#{red:02x}{green:02x}{blue:02x}"


def lightened(color: Colors, share: float) -> Colors:
    """The colour with a share of white."""
    return np.asarray(color) * (1 - share) + share


def darkened(color: Colors, share: float) -> Colors:
    """The colour with a share of black."""
    return np.asarray(color) * (1 - share)


def on_dark(color: str, contrast: float = 4.5) -> str:
    """A colour "#rrggbb" as it is on a dark page: lighter, if it would be lost there.

    Its contrast with the ground is then at least this, by the definition of WCAG 2.
    """
    rgb = _rgb(color)
    for share in np.linspace(0, 1, 41):
        lighter = lightened(rgb, float(share))
        if _contrast(lighter, _rgb(DARK_GROUND)) >= contrast:
            break
    return hex_color(lighter)


def _rgb(color: str) -> Colors:
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def _contrast(one: Colors, other: Colors) -> float:
    """Ratio of the luminances of two colours (3,), from 1 to 21."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted(float(_to_linear(each) @ weights) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def set_styles(focal_sets: FocalSets) -> list[SetStyle]:
    """Fills of the focal sets.

    A cluster has its colour. A larger set has a pale mix of the colours of its clusters
    under hatching, Ω is pale grey, ∅ is black.
    """
    colors = cluster_colors(focal_sets.n_clusters)
    styles, n_hatched = [], 0
    for j, subset in enumerate(focal_sets):
        if not subset:
            styles.append(SetStyle(INK))
        elif len(subset) == 1:
            styles.append(SetStyle(colors[subset[0]]))
        elif j == focal_sets.frame_index:
            styles.append(SetStyle("#EDEDED"))
        else:
            mix = mixed_color(colors[list(subset)])
            hatch = _HATCHES[n_hatched % len(_HATCHES)]
            styles.append(SetStyle(lightened(mix, 0.6), hatch, darkened(mix, 0.15)))
            n_hatched += 1
    return styles


@lru_cache(maxsize=1)
def _base_colors() -> Colors:
    return np.array([_rgb(color) for color in BASE_COLORS])


@lru_cache(maxsize=1)
def _spaced_colors() -> Colors:
    """The base colours and then, each time, the candidate farthest from all so far."""
    steps = np.linspace(0, 1, 13)
    candidates = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    lightness, *chroma = _oklab(_to_linear(candidates)).T
    saturation = np.hypot(*chroma)
    # Neither lost on white, nor mistaken for the black and the greys of other marks,
    # nor shouting.
    usable = (lightness > 0.38) & (lightness < 0.87)
    usable &= (saturation > 0.05) & (saturation < 0.2)
    candidates = candidates[usable]
    chosen = list(_base_colors())
    coordinates = _seen(candidates)
    distances = np.min([_gaps(coordinates, color) for color in chosen], axis=0)
    while len(chosen) < MAX_COLORS:
        chosen.append(candidates[distances.argmax()])
        distances = np.minimum(distances, _gaps(coordinates, chosen[-1]))
    return np.array(chosen)


def _gaps(coordinates: Colors, color: Colors) -> Colors:
    """Smaller distance of the two kinds of vision, (n_candidates,)."""
    normal, deuteranopic = np.sqrt(
        ((coordinates - _seen(color[None])) ** 2).sum(axis=2)
    )
    # Colour-blind eyes see smaller distances; those of most readers should be larger.
    return np.minimum(normal / 1.6, deuteranopic)


def _seen(colors: Colors) -> Colors:
    """OKLab coordinates for normal and deuteranopic vision, (2, n, 3)."""
    linear = _to_linear(colors)
    return np.stack([_oklab(linear), _oklab(linear @ _DEUTERANOPIA.T)])


def _to_linear(colors: Colors) -> Colors:
    return np.where(
        colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4
    )


def _to_srgb(linear: Colors) -> Colors:
    return np.where(
        linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055
    )


def _oklab(linear: Colors) -> Colors:
    """Perceptual coordinates of linear RGB values (n, 3): lightness, two of chroma."""
    return np.cbrt(np.clip(linear, 0, 1) @ _RGB_TO_CONES.T) @ _CONES_TO_LAB.T


# B. Ottosson, "A perceptual color space for image processing", 2020.
_RGB_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_CONES_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# G. Machado, M. Oliveira and L. Fernandes, IEEE TVCG 15(6), 2009, severity 1.
_DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
