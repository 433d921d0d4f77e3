"""``credalis cluster``: from a table to memberships, a model and a report."""

import copy
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import basename
from typing import Any

import click

from credalis._explain._batches import with_typical_cells
from credalis._files import naming_errors
from credalis.cli._shared._console import Console
from credalis.cli._shared._coverage import (
    Coverage,
    check_coverage,
    fit_in_part,
    keeps_rows_out,
    saved_coverage,
)
from credalis.cli._shared._data import Data, DataOptions, load_data
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cli._shared._methods import (
    check_side_information,
    check_takes_weights,
    finds_n_clusters,
    make_estimator,
    takes_gower,
    wants_gower,
)
from credalis.cli._shared._n_clusters import check_n_clusters, choose_n_clusters
from credalis.cli._shared._names import (
    DEFAULT,
    DEFAULT_OF_MIXED,
    DEFAULT_WITH_WEIGHTS,
)
from credalis.cli._shared._options import (
    checked_fields,
    is_csv_safe,
)
from credalis.cli._shared._outputs import (
    check_outputs,
    check_report,
    write_memberships,
    write_report,
)
from credalis.cli._shared._side_information import full_names, read_side_information
from credalis.cli._shared._tally import Tally, named_line
from credalis.cluster import BaseCredalClusterer
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.partition._presentation import set_sizes
from credalis.tables import output_format
from credalis.tabular import TabularModel

# Options that name files of what is known about the rows.
_FILES = ("labels", "must_link", "cannot_link", "answers")
# What the method for rows with categories or gaps has no use for: with one of these,
# the usual one is taken, on encoded columns.
_FOR_THE_DEFAULT = ("parameters", "labels", "coverage", "precomputed")


@dataclass(frozen=True, eq=False)
class Beginning:
    """A table and a method that is about to be fitted to it.

    Attributes
    ----------
    table : Data
        The rows.
    estimator : BaseCredalClusterer
        Not fitted yet; its number of clusters is still open.
    method : str
        What it is called.
    """

    table: Data
    estimator: BaseCredalClusterer
    method: str


@dataclass(frozen=True, eq=False)
class Clustering:
    """What a fit has found about a table.

    Attributes
    ----------
    table : Data
        The rows.
    estimator : BaseCredalClusterer
        Fitted.
    method : str
        What it is called.
    partition : CredalPartition
        Of all rows that were clustered.
    facts : dict
        Plain numbers about it.
    names : list of str or None
        Names of the clusters.
    clear_level : float
        What "clear" asks for.
    coverage : Coverage or None
        Sets with a level, if they are asked for.
    """

    table: Data
    estimator: BaseCredalClusterer
    method: str
    partition: CredalPartition
    facts: dict[str, Any]
    names: list[str] | None
    clear_level: float
    coverage: Coverage | None

    @property
    def subject(self) -> BaseCredalClusterer:
        """The estimator as if all rows had been in the fit, for a report."""
        return _about(self.estimator, self.partition)


def run(context: click.Context, data: str, **options: Any) -> None:
    """Do what the options say."""
    start = time.perf_counter()
    console = Console(
        quiet=options["quiet"],
        as_json=options["as_json"],
        has_table_on_stdout=options["output"] == "-",
    )
    with console.hearing_warnings():
        found = cluster_rows(begin(data, options, console), data, options, console)
        text = found.partition.summary(clear_level=found.clear_level)
        if found.names is not None:
            text += "\n" + named_line(found.names)
        if found.coverage is not None:
            sizes = set_sizes(found.coverage.sets(found.partition))
            text += "\n\n" + found.coverage.text(sizes)
        write_outputs(found, context, data, options)
    _show(console, text, found, options, time.perf_counter() - start)


def begin(data: str, options: dict[str, Any], console: Console) -> Beginning:
    """Read the table, and settle on a method; whatever is wrong so far is said."""
    checked_fields(options["fields"])
    method = options["method"]
    is_open = method is None
    if method is None:
        method = _default_method(options, console)
    is_open = is_open and not any(options[name] for name in _FOR_THE_DEFAULT)
    _check_options(data, method, options)
    table_options = DataOptions.of(options)
    estimator = _estimator(method, options["parameters"], options, console)
    _check_number(options["n_clusters"], estimator, method)
    table = load_data(
        data,
        table_options,
        console,
        weights=options["weights"],
        by=method,
        is_described=bool(options["report"]),
        takes_gower=is_open or takes_gower(estimator),
        wants_gower=wants_gower(estimator),
    )
    check_n_clusters(options["n_clusters"], table.name, len(table.X))
    if table.metric is not None:
        if is_open:
            method = DEFAULT_OF_MIXED
            estimator = _estimator(method, (), options, console)
            console.note(
                f"- {DEFAULT_OF_MIXED} clusters them, which has done best on such "
                "tables (-m names another method)"
            )
        estimator.set_params(metric=table.metric)
    return Beginning(table, estimator, method)


def cluster_rows(
    beginning: Beginning, data: str, options: dict[str, Any], console: Console
) -> Clustering:
    """Fit the method to the table."""
    table, estimator = beginning.table, beginning.estimator
    clear_level = options["clear_level"] or CLEAR_LEVEL
    reasons, called = _fit(estimator, table, options, console)
    stop_if_asked()
    partition = estimator.partition_
    if keeps_rows_out(options):
        partition = estimator.predict_partition(table.X)
    coverage = saved_coverage(estimator, options["coverage"])
    names = full_names(called, partition.n_clusters)
    facts = _facts(estimator, partition, table, data, reasons, clear_level)
    if names is not None:
        facts["cluster_names"] = names
    if coverage is not None:
        facts["coverage"] = coverage.facts(set_sizes(coverage.sets(partition)))
    return Clustering(
        table,
        estimator,
        beginning.method,
        partition,
        facts,
        names,
        clear_level,
        coverage,
    )


def write_outputs(
    found: Clustering, context: click.Context, data: str, options: dict[str, Any]
) -> None:
    """Write memberships, model and report, as far as they are asked for."""
    table = found.table
    if options["output"]:
        write_memberships(
            options["output"],
            table,
            found.partition,
            checked_fields(options["fields"]),
            found.clear_level,
            None if found.coverage is None else found.coverage.sets(found.partition),
            csv_safe=is_csv_safe(options["csv_safe"], options["output"]),
            cluster_names=found.names,
        )
    if options["model"]:
        # What was guessed about the file may quote a line of it.
        about = {**found.facts, "decisions": table.columns.decisions}
        # What a further fit has to be given as well.
        about["weights"] = options["weights"]
        about["given"] = [f for f in _FILES if options[f] is not None]
        preparation = table.prepared.preparation
        if not options["precomputed"]:
            about = with_typical_cells(
                about, preparation, table.X, found.partition, found.clear_level
            )
        model = TabularModel(preparation, found.estimator, about)
        with naming_errors(options["model"]):
            model.save(options["model"])
    if options["report"]:
        write_report(
            found.subject,
            table,
            options["report"],
            _command_line(context, data),
            is_precomputed=options["precomputed"],
            clear_level=found.clear_level,
            coverage=options["coverage"],
            cluster_names=found.names,
        )


def _estimator(
    method: str, parameters: Sequence[str], options: dict[str, Any], console: Console
) -> BaseCredalClusterer:
    return make_estimator(
        method,
        parameters,
        precomputed=options["precomputed"],
        outlier_rate=options["outlier_rate"],
        seed=options["seed"],
        n_jobs=options["n_jobs"],
        verbose=console.shows_progress,
    )


def _default_method(options: dict[str, Any], console: Console) -> str:
    if not options["weights"]:
        return DEFAULT
    console.note(
        f"--weights: {DEFAULT_WITH_WEIGHTS}, because {DEFAULT} takes no weights "
        "(-m names another method)"
    )
    return DEFAULT_WITH_WEIGHTS


def _check_options(data: str, method: str, options: dict[str, Any]) -> None:
    """Everything that can be wrong before the table is read."""
    outputs = {f"--{name}": options[name] for name in ("output", "model", "report")}
    check_outputs(data, outputs)
    check_report(options["report"])
    if options["output"]:
        output_format(options["output"])
    given = {
        "partial_labels" if name == "labels" else name: options[name]
        for name in _FILES
        if options[name] is not None
    }
    check_side_information(method, given)
    if options["weights"]:
        check_takes_weights(method)
    check_coverage(options)


def _check_number(
    n_clusters: int | range | str | None, estimator: BaseCredalClusterer, method: str
) -> None:
    if finds_n_clusters(estimator):
        if n_clusters is not None:
            raise ValueError(
                f"{method} finds the number of clusters itself: leave out -c"
            )
    elif n_clusters is None:
        raise click.UsageError(
            "say how many clusters you want with -c, for example -c 4, or use -c auto",
            click.get_current_context(),
        )


def _fit(
    estimator: BaseCredalClusterer,
    table: Data,
    options: dict[str, Any],
    console: Console,
) -> tuple[dict[str, Any], list[str]]:
    """Fit; what decided on the number of clusters, and what the first are called."""
    wanted = options["n_clusters"]
    given, called = read_side_information(
        table,
        console,
        labels=options["labels"],
        must_link=options["must_link"],
        cannot_link=options["cannot_link"],
        answers=options["answers"],
        n_clusters=wanted if isinstance(wanted, int) else None,
    )
    reasons: dict[str, Any] = {}
    weights: dict[str, Any] = {}
    if table.weights is not None:
        weights["sample_weight"] = table.weights
        n_zero = int((table.weights == 0).sum())
        console.note(
            f"- {options['weights']!r} says how often each row counts"
            + (f", {n_zero} of {len(table.X)} not at all" if n_zero else "")
        )
    if isinstance(wanted, (range, str)):
        if weights:
            console.note("the number of clusters is chosen without the weights")
        verbose = estimator.verbose
        selection = choose_n_clusters(
            estimator,
            table.X,
            wanted,
            given,
            seed=options["seed"],
            n_jobs=options["n_jobs"],
            console=console,
        )
        stop_if_asked()
        console.note(f"{selection.best} clusters chosen: {selection.reason}")
        for name, vote in selection.votes.items():
            preferred = "undecided" if vote.value is None else vote.value
            console.note(f"  {name}: {preferred}, {vote.reason}")
        reasons = {
            "tried": [int(selection.values[0]), int(selection.values[-1])],
            "reason": selection.reason,
            "votes": {
                name: None if vote.value is None else int(vote.value)
                for name, vote in selection.votes.items()
            },
            "p_value": selection.p_value,
        }
        wanted = int(selection.best)
        estimator.set_params(verbose=verbose)
    if wanted is not None:
        estimator.set_params(n_clusters=wanted)
    if keeps_rows_out(options):
        fit_in_part(estimator, table, options, console)
        return reasons, called
    estimator.fit(table.X, **given, **weights)
    if options["coverage"] is not None:
        stop_if_asked()
        console.note("fitting models to data drawn from mixtures, for --coverage")
        estimator.calibrate(table.X, "model")
    return reasons, called


def _about(
    estimator: BaseCredalClusterer, partition: CredalPartition
) -> BaseCredalClusterer:
    """The estimator as if all rows of the table had been in the fit, for a report."""
    if partition is estimator.partition_:
        return estimator
    twin = copy.copy(estimator)
    twin.partition_, twin.labels_ = partition, partition.labels.copy()
    return twin


def _facts(
    estimator: BaseCredalClusterer,
    partition: CredalPartition,
    table: Data,
    path: str,
    reasons: dict[str, Any],
    clear_level: float,
) -> dict[str, Any]:
    """Plain numbers about the result."""
    tally = Tally(partition.n_clusters, clear_level).add(partition, table.n_dropped)
    return {
        "table": "standard input" if path == "-" else basename(path.rstrip("/")),
        "id": table.id_column,
        "n_clusters": partition.n_clusters,
        "focal_sets": len(partition.focal_sets),
        **tally.to_dict(),
        "nonspecificity": partition.average_nonspecificity,
        "loss": float(estimator.loss_),
        "iterations": int(estimator.n_iter_),
        "chosen": reasons,
        "decisions": table.decisions,
    }


def _show(
    console: Console,
    text: str,
    found: Clustering,
    options: dict[str, Any],
    seconds: float,
) -> None:
    names = ("output", "model", "report")
    written = {name: options[name] for name in names if options[name]}
    values = {
        "method": found.method,
        "parameters": list(options["parameters"]),
        "seed": options["seed"],
        **found.facts,
        "written": written,
        "warnings": console.warnings,
        "seconds": round(seconds, 3),
    }
    lines = [text]
    what = {"output": "memberships", "model": "model", "report": "report"}
    files = {name: path for name, path in written.items() if path != "-"}
    if files:
        lines.append("")
        lines += [f"{what[name]:<11} {path}" for name, path in files.items()]
    console.result("\n".join(lines), values)


def _command_line(context: click.Context, data: str) -> str:
    """What to type for the same result, with the seed even if it was not given."""
    words = ["credalis", "cluster", data]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if not isinstance(parameter, click.Option) or parameter.name == "help":
            continue
        is_given = source is click.core.ParameterSource.COMMANDLINE
        value = context.params.get(parameter.name or "")
        if parameter.name == "seed" or is_given:
            words += _as_typed(parameter, value)
    return shlex.join(words)


def _as_typed(option: click.Option, value: Any) -> list[str]:
    """An option with its value as it is typed."""
    if option.is_flag:
        return [(option.opts if value else option.secondary_opts)[-1]]
    values = value if option.multiple else [value]
    return [word for item in values for word in (option.opts[0], _text_of(item))]


def _text_of(value: Any) -> str:
    if isinstance(value, range):
        return f"{value[0]}-{value[-1]}"
    return str(value)
