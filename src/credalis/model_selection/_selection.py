"""The result of trying several values of a parameter."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.model_selection._criteria import Vote

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What was tried, what came out, and which value is suggested and why.

    `select_n_clusters` and `select_dissimilarity_quantile` return it;
    ``plots.SelectionDisplay.from_selection`` draws it.

    Attributes
    ----------
    parameter : str
        Name of the parameter that was varied.
    values : array of shape (n_values,)
        Values that were tried, increasing.
    best : int, float or None
        The suggested value; None if no criterion decides.
    reason : str
        Why, in one sentence.
    curves : dict of arrays of shape (n_values,)
        For each criterion, its value at each of them.
    errors : dict of arrays of shape (n_values,)
        Standard errors, for criteria that have one.
    votes : dict of Vote
        For each criterion that takes part, the ``value`` it prefers (None if it is
        undecided) and its ``reason``.
    details : dict of arrays of shape (n_values,)
        Other columns of the table.
    fixed_params : dict
        Parameters that were left to the data and have been fixed for all fits.
    estimators : dict
        For each value, the estimator fitted to all rows.
    """

    parameter: str
    values: NDArray[np.intp] | NDArray[np.float64]
    best: Any
    reason: str
    curves: dict[str, NDArray[np.float64]]
    errors: dict[str, NDArray[np.float64]]
    votes: dict[str, Vote]
    details: dict[str, NDArray[Any]]
    fixed_params: dict[str, Any]
    estimators: dict[float, Any]
    p_value: float | None = None

    @property
    def best_estimator(self) -> Any:
        """The estimator fitted to all rows with the suggested value."""
        if self.best is None:
            raise ValueError(
                f"there is no best {self.parameter}, estimators holds all: "
                f"{self.reason}"
            )
        if self.best not in self.estimators:
            raise ValueError(
                f"there is no best estimator, as none was fitted: {self.reason}"
            )
        return self.estimators[self.best]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table, column by column.

        Returns
        -------
        dict of ndarrays
        """
        table: dict[str, NDArray[Any]] = {self.parameter: self.values}
        for name, curve in self.curves.items():
            table[name] = curve
            if name in self.errors:
                table[f"{name}_error"] = self.errors[name]
        return {k: v.copy() for k, v in {**table, **self.details}.items()}

    def rows(self) -> list[dict[str, Any]]:
        """The table, row by row.

        Returns
        -------
        list of dicts
        """
        table = {name: column.tolist() for name, column in self.columns().items()}
        return [
            {name: column[k] for name, column in table.items()}
            for k in range(len(self.values))
        ]

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a pandas frame.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pd.DataFrame(self.columns())

    def to_polars(self) -> "pl.DataFrame":
        """The table as a polars frame.

        Returns
        -------
        polars.DataFrame
        """
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError("to_polars needs polars: pip install polars") from error
        return pl.DataFrame(self.columns())

    def summary(self) -> str:
        """The table, what each criterion says, and the suggestion, as text.

        Returns
        -------
        str
        """
        table = self.columns()
        cells = [list(table)]
        cells += [
            [f"{v:.4g}" for v in row] for row in zip(*table.values(), strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(c.rjust(width) for c, width in zip(row, widths, strict=True))
            for row in cells
        ]
        for name, vote in self.votes.items():
            value = "undecided" if vote.value is None else f"{vote.value:g}"
            lines.append(f"{name}: {value}, {vote.reason}")
        return "\n".join([*lines, self.reason])

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Selection({self.parameter}: {self.best!r} of {len(self)} values tried)"
