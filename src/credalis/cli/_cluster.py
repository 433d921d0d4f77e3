"""``credalis cluster``: from a table to memberships, a model and a report."""

import copy
import shlex
import time
from os.path import basename
from typing import Any

import click

from credalis._explain._batches import with_typical_cells
from credalis._files import naming_errors
from credalis.cli._shared._console import Console
from credalis.cli._shared._coverage import (
    check_coverage,
    fit_in_part,
    keeps_rows_out,
    saved_coverage,
)
from credalis.cli._shared._data import Data, DataOptions, load_data
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cli._shared._methods import (
    check_side_information,
    finds_n_clusters,
    make_estimator,
    takes_gower,
    wants_gower,
)
from credalis.cli._shared._n_clusters import choose_n_clusters
from credalis.cli._shared._names import (
    DEFAULT,
    DEFAULT_OF_DISSIMILARITIES,
    DEFAULT_OF_MIXED,
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

# What the method for rows with categories or gaps has no use for: with one of these,
# the usual one is taken, on encoded columns.
_FOR_THE_DEFAULT = ("parameters", "labels", "coverage", "precomputed")


def run(context: click.Context, data: str, **options: Any) -> None:
    """Do what the options say."""
    start = time.perf_counter()
    console = Console(
        quiet=options["quiet"],
        as_json=options["as_json"],
        has_table_on_stdout=options["output"] == "-",
    )
    fields = checked_fields(options["fields"])
    clear_level = options["clear_level"] or CLEAR_LEVEL
    is_open = options["method"] is None
    if is_open:
        options["method"] = _default_method(options["precomputed"], console)
    is_open = is_open and not any(options[name] for name in _FOR_THE_DEFAULT)
    _check_options(data, options)
    table_options = DataOptions.take(options)
    with console.hearing_warnings():
        estimator = make_estimator(
            options["method"],
            options["parameters"],
            precomputed=table_options.precomputed,
            outlier_rate=options["outlier_rate"],
            seed=options["seed"],
            n_jobs=options["n_jobs"],
            verbose=console.shows_progress,
        )
        _check_number(options["n_clusters"], estimator, options["method"])
        table = load_data(
            data,
            table_options,
            console,
            by=options["method"],
            is_described=bool(options["report"]),
            takes_gower=is_open or takes_gower(estimator),
            wants_gower=wants_gower(estimator),
        )
        if table.metric is not None:
            if is_open:
                options["method"] = DEFAULT_OF_MIXED
                estimator = make_estimator(
                    DEFAULT_OF_MIXED,
                    (),
                    precomputed=False,
                    outlier_rate=options["outlier_rate"],
                    seed=options["seed"],
                    n_jobs=options["n_jobs"],
                    verbose=console.shows_progress,
                )
                console.note(
                    f"- {DEFAULT_OF_MIXED} clusters them: it takes any dissimilarity, "
                    f"which {DEFAULT} does not (-m names another method)"
                )
            estimator.set_params(metric=table.metric)
        reasons, called = _fit(estimator, table, options, console)
        stop_if_asked()
        partition = estimator.partition_
        if keeps_rows_out(options):
            partition = estimator.predict_partition(table.X)
        coverage = saved_coverage(estimator, options["coverage"])
        names = full_names(called, partition.n_clusters)
        facts = _facts(estimator, partition, table, data, reasons, clear_level)
        text, sets = partition.summary(clear_level=clear_level), None
        if names is not None:
            facts["cluster_names"] = names
            text += "\n" + named_line(names)
        if coverage is not None:
            sets = coverage.sets(partition)
            sizes = set_sizes(sets)
            facts["coverage"] = coverage.facts(sizes)
            text += "\n\n" + coverage.text(sizes)
        if options["output"]:
            write_memberships(
                options["output"],
                table,
                partition,
                fields,
                clear_level,
                sets,
                csv_safe=is_csv_safe(options["csv_safe"], options["output"]),
                cluster_names=names,
            )
        if options["model"]:
            # What was guessed about the file may quote a line of it.
            about = {**facts, "decisions": table.columns.decisions}
            preparation = table.prepared.preparation
            if not table_options.precomputed:
                about = with_typical_cells(
                    about, preparation, table.X, partition, clear_level
                )
            model = TabularModel(preparation, estimator, about)
            with naming_errors(options["model"]):
                model.save(options["model"])
        if options["report"]:
            command = _command_line(context, data)
            write_report(
                _about(estimator, partition),
                table,
                options["report"],
                command,
                is_precomputed=table_options.precomputed,
                clear_level=clear_level,
                coverage=options["coverage"],
                cluster_names=names,
            )
    _show(console, text, facts, options, time.perf_counter() - start)


def _default_method(is_precomputed: bool, console: Console) -> str:
    if not is_precomputed:
        return DEFAULT
    console.note(
        f"--precomputed: {DEFAULT_OF_DISSIMILARITIES}, because the members of "
        f"{DEFAULT} need attributes (-m names another method)"
    )
    return DEFAULT_OF_DISSIMILARITIES


def _check_options(data: str, options: dict[str, Any]) -> None:
    """Everything that can be wrong before the table is read."""
    outputs = {f"--{name}": options[name] for name in ("output", "model", "report")}
    check_outputs(data, outputs)
    check_report(options["report"])
    if options["output"]:
        output_format(options["output"])
    names = ("partial_labels", "must_link", "cannot_link")
    files = (options["labels"], options["must_link"], options["cannot_link"])
    given = {
        name: path for name, path in zip(names, files, strict=True) if path is not None
    }
    check_side_information(options["method"], given)
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
        n_clusters=wanted if isinstance(wanted, int) else None,
    )
    reasons: dict[str, Any] = {}
    if isinstance(wanted, (range, str)):
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
    estimator.fit(table.X, **given)
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
    facts: dict[str, Any],
    options: dict[str, Any],
    seconds: float,
) -> None:
    names = ("output", "model", "report")
    written = {name: options[name] for name in names if options[name]}
    values = {
        "method": options["method"],
        "parameters": list(options["parameters"]),
        "seed": options["seed"],
        **facts,
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
