"""Models from files, as models of a table."""

import copy
from typing import Any

import numpy as np

from credalis.cli._shared._data import DataOptions
from credalis.cluster import BaseCredalClusterer
from credalis.io import load
from credalis.tables import Table
from credalis.tabular import Preparation, TabularModel


def _load_model(path: str) -> Any:
    """What a file holds, if it can predict."""
    saved = load(path)
    if not isinstance(saved, (TabularModel, BaseCredalClusterer)):
        raise ValueError(
            f"{path} holds a {type(saved).__name__}, not a model that can predict"
        )
    return saved


def open_model_and_table(
    path: str, data: str, options: DataOptions
) -> tuple[TabularModel, Table, str | None]:
    """A model, a table for it, and the column of the table that identifies the rows.

    That is the one of the options, else that of the fit if the table has it as well.
    """
    saved = _load_model(path)
    implied = saved.facts.get("id") if isinstance(saved, TabularModel) else None
    table = options.open(data, [implied] if implied else [])
    id_column = options.id_column
    if id_column is not None:
        table.check_columns([id_column])
    elif implied in table.columns:
        id_column = implied
    return _as_tabular(saved, table), table, id_column


def _as_tabular(
    saved: TabularModel | BaseCredalClusterer, table: Table
) -> TabularModel:
    """The model itself, or an estimator that takes the columns as they are."""
    return saved if isinstance(saved, TabularModel) else _unscaled(saved, table)


def _unscaled(estimator: BaseCredalClusterer, table: Table) -> TabularModel:
    """An estimator saved in Python, with a preparation that leaves columns alone."""
    if hasattr(estimator, "preparation_"):
        # Fitted to a table: its columns are read as in the fit.
        return TabularModel(estimator.preparation_, _without_table(estimator))
    names = getattr(estimator, "feature_names_in_", None)
    n_features = estimator.n_features_in_
    columns = tuple(table.columns if names is None else map(str, names))
    if len(columns) != n_features:
        raise ValueError(
            f"{table.name} must have {n_features} columns in the order of the fit, "
            f"because the model has no column names; got {len(columns)}"
        )
    preparation = Preparation(
        numeric=columns,
        categories={},
        scaling="none",
        missing="error",
        center=np.zeros(n_features),
        scale=np.ones(n_features),
        fill=np.full(n_features, np.nan),
        fill_categories={},
    )
    return TabularModel(preparation, _without_names(estimator))


def _without_table(estimator: BaseCredalClusterer) -> BaseCredalClusterer:
    """A copy that takes the matrix which a table becomes."""
    preparation = estimator.preparation_
    twin = _without_names(estimator)
    twin.metric = preparation.gower()
    twin.n_features_in_ = len(preparation.feature_names)
    del twin.preparation_, twin.decisions_
    return twin


def _without_names(estimator: BaseCredalClusterer) -> BaseCredalClusterer:
    """A copy that takes an array without a warning about names."""
    twin = copy.copy(estimator)
    if hasattr(twin, "feature_names_in_"):
        del twin.feature_names_in_
    return twin
