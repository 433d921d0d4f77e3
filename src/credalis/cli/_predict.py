"""``credalis predict``: the masses of new rows under a saved model."""

from collections.abc import Iterator
from typing import Any

import click
import numpy as np
import pyarrow as pa

from credalis._explain._batches import RowExplainer
from credalis.cli._shared._console import Console
from credalis.cli._shared._coverage import (
    Coverage,
    saved_coverage,
)
from credalis.cli._shared._data import DataOptions
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cli._shared._models import open_model_and_table
from credalis.cli._shared._options import (
    checked_fields,
    is_csv_safe,
)
from credalis.cli._shared._outputs import check_outputs
from credalis.cli._shared._tally import Tally, named_line
from credalis.partition import CLEAR_LEVEL
from credalis.partition._presentation import set_sizes
from credalis.tables import Table, output_format, write_table
from credalis.tabular import (
    TabularModel,
    membership_batch,
    membership_schema,
)


def run(model: str, data: str, **options: Any) -> None:
    """Do what the options say."""
    output = options["output"] or (None if options["as_json"] else "-")
    console = Console(
        quiet=options["quiet"],
        as_json=options["as_json"],
        has_table_on_stdout=output == "-",
    )
    fields = checked_fields(options["fields"])
    if options["explain"] and output is None:
        raise click.UsageError(
            "--explain adds a column to the memberships: say where to write them with "
            "-o",
            click.get_current_context(),
        )
    if output:
        output_format(output)
    for source in (data, model):
        check_outputs(source, {"--output": output})
    table_options = DataOptions.take(options)
    with console.hearing_warnings():
        scorer, table, id_column = open_model_and_table(model, data, table_options)
        level = options["clear_level"] or scorer.facts.get("clear_level", CLEAR_LEVEL)
        known = scorer.facts.get("coverage", {}).get("level")
        coverage = saved_coverage(scorer.estimator, options["coverage"] or known)
        scoring = _Scoring(
            scorer, table, id_column, table_options.missing, level, coverage, console
        )
        if options["explain"]:
            scoring.explain()
        scoring.write(output, fields, options["csv_safe"])
    stop_if_asked()
    text = scoring.tally.text()
    if scorer.facts.get("cluster_names"):
        text += "\n" + named_line(scorer.facts["cluster_names"])
    facts = scoring.tally.to_dict()
    if coverage is not None:
        sizes = scoring.tally.set_sizes
        text += "\n\n" + coverage.text(sizes)
        facts["coverage"] = coverage.facts(sizes)
    if output and output != "-":
        text += f"\n\nmemberships {output}"
    values = {
        **facts,
        "written": output,
        "warnings": console.warnings,
    }
    console.result(text, values)


class _Scoring:
    """The rows of a table under a model, piece by piece.

    Parameters
    ----------
    model : TabularModel
        The model.
    table : Table
        The new rows.
    id_column : str or None
        Column that identifies them.
    missing : str or None
        Treatment of missing values, None as in the fit.
    clear_level : float
        What "clear" asks for.
    coverage : Coverage or None
        Sets with a level, if they are asked for.
    console : Console
        Where to say what is odd.
    """

    def __init__(
        self,
        model: TabularModel,
        table: Table,
        id_column: str | None,
        missing: str | None,
        clear_level: float,
        coverage: Coverage | None,
        console: Console,
    ) -> None:
        self.tally = Tally(model.focal_sets.n_clusters, clear_level)
        self._model = model
        self._table = table
        self._id_column = id_column
        self._missing = missing
        self._coverage = coverage
        self._console = console
        self._names: list[str] | None = model.facts.get("cluster_names")
        self._explainer: RowExplainer | None = None

    def explain(self) -> None:
        """Add a column of reasons."""
        metric = getattr(self._model.estimator, "metric", None)
        if isinstance(metric, str) and metric == "precomputed":
            raise ValueError(
                "--explain needs columns that describe the rows, but the model was "
                "fitted to dissimilarities"
            )
        self._explainer = RowExplainer(self._model, self.tally.clear_level)
        if not self._explainer.remembers:
            self._console.note(
                "the model does not say what is typical of its clusters: the first "
                "rows of the table do, for --explain"
            )

    def write(
        self, output: str | None, fields: list[str], csv_safe: bool | None
    ) -> None:
        """Write the memberships, or with no output only count."""
        # Before a header is written that nothing follows.
        self._model.preparation.check_table(self._table.name, self._table.columns)
        if not self._model.estimator._detects_novelties:
            self._console.note(
                "the model does not look for novelty: rows unlike any that it was "
                "fitted to may still be assigned to a cluster (to detect them, fit "
                "with --param empty_set=novelty)"
            )
        key = pa.field("row", pa.int64())
        if self._id_column is not None:
            key = self._table.schema.field(self._id_column)
        schema = membership_schema(
            self._model.focal_sets,
            key,
            fields,
            has_coverage=self._coverage is not None,
            has_reasons=self._explainer is not None,
            cluster_names=self._names,
        )
        if output is None:
            for _ in self._batches(schema):
                pass
            return
        is_safe = is_csv_safe(csv_safe, output)
        with write_table(output, schema, csv_safe=is_safe) as write:
            for batch in self._batches(schema):
                write(batch)
                stop_if_asked()

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Memberships of one piece after the other, counted on the way."""
        others = () if self._id_column is None else (self._id_column,)
        n_unknown = n_filled = 0
        pieces = self._model.predict_batches(
            self._table, others=others, missing=self._missing
        )
        for batch, features, partition in pieces:
            start = self.tally.n_rows
            rows = pa.array(np.arange(start, start + batch.num_rows))
            keys = batch.column(self._id_column) if others else rows
            sets = None if self._coverage is None else self._coverage.sets(partition)
            reasons = None
            if self._explainer is not None:
                reasons = self._explainer.sentences(batch, features, partition)
            yield membership_batch(
                schema,
                partition,
                keys,
                features.is_kept,
                self.tally.clear_level,
                sets,
                self._names,
                reasons,
            )
            if sets is not None:
                self.tally.set_sizes += set_sizes(sets)
            n_unknown += features.n_unknown
            n_filled += features.n_filled
            self.tally.add(partition, int((~features.is_kept).sum()))
            self._console.progress(f"{self.tally.n_rows} rows ")
        if self._console.shows_progress:
            self._console.progress(" " * 40 + "\r")
        if n_unknown:
            self._console.warn(
                f"{self._table.name}: {n_unknown} cells hold a category that the model "
                "has not seen; they count as none of its categories"
            )
        if n_filled and self._missing is None:
            are = "1 cell is" if n_filled == 1 else f"{n_filled} cells are"
            self._console.note(
                f"{self._table.name}: {are} missing, the medians of the fit stand in "
                "(--missing drop leaves the rows empty)"
            )
        if not self.tally.n_rows:
            raise ValueError(f"{self._table.name} has a header but no rows")
