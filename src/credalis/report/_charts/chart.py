"""A chart with its words, and what all have in common: fonts, axes, colours."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.palette import GRID, INK, SOFT_INK
from credalis.report._content.text import chart_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Array = NDArray[np.float64]

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif"
# Blues from almost white: the sequential colours of the static figures.
SEQUENTIAL = [
    [0.0, "#f7fbff"],
    [0.25, "#c6dbef"],
    [0.5, "#6baed6"],
    [0.75, "#2171b5"],
    [1.0, "#08306b"],
]
# Low, like all, high: told apart by red-green-blind eyes.
DIVERGING = [[0.0, "#0069a8"], [0.5, "#f7f7f7"], [1.0, "#d5470c"]]
# The palest blue that is not lost on white.
PALE_BLUE = "#d6e6f4"
# How many objects are where, from few to many.
DENSITY = [[0.0, "#f0f0f0"], [1.0, "#8c8c8c"]]
_SIGNIFICANT_DIGITS = 5


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart, what a reader who does not see it is told, and what stands below it."""

    name: str
    figure: "Figure"
    alt: str
    caption: str

    @property
    def data(self) -> dict[str, Any]:
        """Traces and layout, of what JSON can hold."""
        return json.loads(self.figure.to_json())


def import_graph_objects() -> Any:
    """``plotly.graph_objects``, or an ImportError that says how to get it."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            "report needs plotly: pip install 'credalis[report]'"
        ) from error
    return go


def layout(height: int, **changes: Any) -> dict[str, Any]:
    """Layout of a chart; changes override what it would be."""
    common: dict[str, Any] = {
        "height": height,
        "autosize": True,
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        # Fixed: margins that adapt make Plotly draw several times.
        "margin": {"l": 62, "r": 12, "t": 12, "b": 54},
        "hoverlabel": {
            "align": "left",
            "bgcolor": "white",
            "bordercolor": SOFT_INK,
            "font": {"family": FONT, "size": 13, "color": INK},
        },
        "hovermode": "closest",
        "showlegend": False,
        # Plotly's own template would add kilobytes of settings for other charts.
        "template": {},
    }
    return {**common, **changes}


def axis(title: str, **changes: Any) -> dict[str, Any]:
    """An axis with a light grid; the title is text for charts already."""
    common: dict[str, Any] = {
        "title": {"text": title, "standoff": 8},
        "gridcolor": GRID,
        "linecolor": SOFT_INK,
        "zeroline": False,
    }
    return {**common, **changes}


def below() -> dict[str, Any]:
    """A legend below the chart, where it has room on a phone too."""
    return {
        "orientation": "h",
        "yanchor": "top",
        "y": -0.12,
        "xanchor": "left",
        "x": 0,
        "itemsizing": "constant",
        "traceorder": "normal",
    }


def rounded(values: Array) -> Array:
    """Five significant digits: more than a screen shows, and a smaller file."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.floor(np.log10(np.abs(values)))
    usable = np.isfinite(exponents)
    factors = 10.0 ** np.clip(
        _SIGNIFICANT_DIGITS - 1 - np.where(usable, exponents, 0.0), -300, 300
    )
    return np.where(usable, np.round(values * factors) / factors, values)


def numbers(values: Array) -> list[float | None]:
    """Rounded numbers as JSON knows them, None where there are none."""
    return [value if np.isfinite(value) else None for value in rounded(values).tolist()]


def log_counts(counts: Array) -> list[list[float | None]]:
    """Decimal logarithms of counts in cells, None where there is nothing."""
    return [
        [None if count == 0 else round(float(np.log10(count)), 2) for count in row]
        for row in counts
    ]


def distinct(names: list[str]) -> list[str]:
    """Texts for a chart, of which equal ones are numbered."""
    seen: dict[str, int] = {}
    distinct = []
    for name in map(chart_text, names):
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
