"""One self-contained HTML page about a result."""

import base64
import io
from collections.abc import Collection, Sequence
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from credalis._files import atomic_write
from credalis.partition import CredalPartition
from credalis.plots import CredalPartitionDisplay, HistoryDisplay

__all__ = ["report"]

# Objects listed in the table of doubtful ones.
_N_DOUBTFUL = 12

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff;
       max-width: 58rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }}
h1 {{ font-size: 1.7rem; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.15rem; margin: 2.2rem 0 .6rem; }}
.lead {{ font-size: 1.1rem; color: #40505f; margin: 0; }}
figure {{ margin: 0; }}
figure img {{ width: 100%; height: auto; }}
figcaption {{ color: #5a6876; font-size: .9rem; }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: right; padding: .35rem .7rem; border-bottom: 1px solid #e3e8ed;
         font-variant-numeric: tabular-nums; }}
th {{ color: #40505f; font-weight: 600; }}
th:first-child, td:first-child, td.text, th.text {{ text-align: left; }}
dl {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
     gap: 1rem; margin: 1.4rem 0 0; }}
dl div {{ border: 1px solid #e3e8ed; border-radius: .6rem; padding: .7rem .9rem; }}
dt {{ color: #5a6876; font-size: .85rem; }}
dd {{ margin: 0; font-size: 1.5rem; font-weight: 600; }}
@media print {{ body {{ padding: 0; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def report(result: Any, X: Any, path: str | PathLike[str]) -> None:
    """Write one HTML page about a clustering; it opens offline.

    Parameters
    ----------
    result : fitted estimator or CredalPartition
        What to report on.
    X : array-like of shape (n_samples, n_features)
        The objects the result is about.
    path : str or path-like
        File to write. It appears whole or not at all.

    Examples
    --------
    >>> from credalis import ECM, report
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> report(ECM(4, random_state=0).fit(X), X, "report.html")  # doctest: +SKIP
    """
    partition = _partition_of(result)
    sections = [
        _headline(result, partition),
        _figure(
            CredalPartitionDisplay.from_estimator(result, X)
            if result is not partition
            else CredalPartitionDisplay.from_partition(partition, X),
            alt="The objects in the plane, with the clusters they belong to",
            caption="Solid outlines hold the objects certainly in a cluster, dashed "
            "ones those possibly in it; rings mark outliers.",
        ),
        _clusters(partition),
        _doubtful(partition),
    ]
    if result is not partition:
        sections += [_learning_curve(result), _settings(result)]
    page = _PAGE.format(title=_title(result), body="\n".join(sections))
    with atomic_write(path) as stream:
        stream.write(page.encode())


def _partition_of(result: Any) -> CredalPartition:
    partition = getattr(result, "partition_", result)
    if not isinstance(partition, CredalPartition):
        raise ValueError(
            "result must be a CredalPartition or a fitted estimator with partition_, "
            f"got {type(result).__name__}"
        )
    return partition


def _title(result: Any) -> str:
    return f"{escape(type(result).__name__)} report"


def _headline(result: Any, partition: CredalPartition) -> str:
    """The answer in a sentence, and the four numbers behind it."""
    n_clear = int(partition.lower.sum())
    n_ambiguous = int(partition.is_ambiguous.sum())
    n_outliers = int(partition.is_outlier.sum())
    sentence = (
        f"{partition.n_samples} objects in {partition.n_clusters} clusters: "
        f"{n_clear} clearly in one, {n_ambiguous} between several, "
        f"{n_outliers} in none."
    )
    facts = {
        "clear": n_clear,
        "ambiguous": n_ambiguous,
        "outliers": n_outliers,
        "nonspecificity": f"{partition.average_nonspecificity:.2f}",
    }
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()
    )
    return (
        f"<h1>{_title(result)}</h1>\n<p class='lead'>{sentence}</p>\n<dl>{cells}</dl>"
    )


def _clusters(partition: CredalPartition) -> str:
    sizes = np.bincount(partition.labels, minlength=partition.n_clusters)
    rows = [
        (
            str(k),
            str(partition.lower[:, k].sum()),
            str(partition.upper[:, k].sum()),
            str(sizes[k]),
        )
        for k in range(partition.n_clusters)
    ]
    header = ("cluster", "certainly in", "possibly in", "most plausible")
    return "<h2>Clusters</h2>\n" + _table(header, rows)


def _doubtful(partition: CredalPartition) -> str:
    """The objects of highest doubt, outliers last since they have a reason."""
    order = np.lexsort([-partition.doubt, partition.is_outlier])[:_N_DOUBTFUL]
    names = partition[order].set_names()
    rows = [
        (
            str(i),
            _reason(name),
            f"{partition.doubt[i]:.2f}",
            f"{partition.outlier_mass[i]:.2f}",
        )
        for i, name in zip(order, names, strict=True)
    ]
    header = ("object", "what the masses say", "doubt", "mass on ∅")
    return "<h2>Most doubtful objects</h2>\n" + _table(header, rows, text_columns={1})


def _reason(set_name: str) -> str:
    if set_name == "∅":
        return "in no cluster"
    if set_name == "Ω":
        return "in any cluster"
    clusters = set_name.strip("{}").split(",")
    if len(clusters) == 1:
        return f"rather in cluster {clusters[0]}"
    return f"between clusters {', '.join(clusters[:-1])} and {clusters[-1]}"


def _learning_curve(estimator: Any) -> str:
    return _figure(
        HistoryDisplay.from_estimator(estimator),
        alt="The loss after each iteration of the best start",
        caption=f"Loss {estimator.loss_:.6g} after {estimator.n_iter_} iterations.",
        heading="Learning curve",
    )


def _settings(estimator: Any) -> str:
    from credalis import __version__

    parameters = estimator.get_params(deep=False).items()
    rows = [(name, repr(value)) for name, value in parameters]
    rows.append(("credalis", __version__))
    return "<h2>Settings</h2>\n" + _table(
        ("parameter", "value"), rows, text_columns={1}
    )


def _figure(display: Any, *, alt: str, caption: str, heading: str = "Partition") -> str:
    """A drawn Display as an image inside the page."""
    import matplotlib.pyplot as plt

    figure = display.plot().figure_
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    plt.close(figure)
    data = base64.b64encode(stream.getvalue()).decode()
    return (
        f"<h2>{heading}</h2>\n<figure><img alt='{escape(alt)}' "
        f"src='data:image/png;base64,{data}'>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _table(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    text_columns: Collection[int] = (),
) -> str:
    """An HTML table; columns of text are aligned to the left."""

    def line(row: tuple[str, ...], tag: str) -> str:
        cells = "".join(
            f"<{tag}{' class=text' if j in text_columns else ''}>{escape(cell)}</{tag}>"
            for j, cell in enumerate(row)
        )
        return f"<tr>{cells}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<div class='table'><table><thead>{line(header, 'th')}</thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
