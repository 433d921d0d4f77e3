"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from credalis._choices import DATE_PARTS, FIELDS, MISSING, SCALINGS
from credalis.cli._shared._console import set_debugging
from credalis.cli._shared._values import ClearLevel

# Help in lines a person can read, and the defaults said.
SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 88,
    "show_default": True,
}

# The tables are checked where they are opened, with messages of our own.
PATH = click.Path(allow_dash=True, readable=False)

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=set_debugging,
    help="Show where in the program an error occurs.",
)
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="No notes, no summary: only warnings and errors.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    help="Seed for random numbers: the same seed gives the same result.",
)
n_jobs_option = click.option(
    "--n-jobs",
    type=int,
    default=1,
    help="Number of fits to run at the same time, -1 for one per processor. It does "
    "not change the result.",
)
fields_option = click.option(
    "--fields",
    metavar="A,B,...",
    default=None,
    help=f"What to write: one or more of {', '.join(FIELDS)}.  [default: all]",
)

csv_safe_option = click.option(
    "--csv-safe/--no-csv-safe",
    default=None,
    help="Put an apostrophe before text in CSV that a spreadsheet would take for a "
    "formula (=, +, -, @).  [default: in files, not on standard output]",
)


def is_csv_safe(is_asked: bool | None, output: str) -> bool:
    """Whether an output is written for spreadsheets: files are, pipes are not."""
    return output != "-" if is_asked is None else is_asked


def clear_level_option(default: str) -> Decorator:
    """What "clear" asks for, with words about the default."""
    return click.option(
        "--clear-level",
        type=ClearLevel(),
        metavar="P",
        help="Belief in one cluster, outliers aside, from which on a row counts as "
        f"clear: above 2/3, at most 1.  [default: {default}]",
    )


precomputed_option = click.option(
    "--precomputed",
    is_flag=True,
    help="The table is a square matrix of dissimilarities.",
)


def examples(*commands: str) -> str:
    """Commands below a help page; the first character forbids click to wrap them."""
    return "\b\n" + "\n".join(("Examples:", *(f"  {line}" for line in commands)))


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


data_argument = click.argument("data", type=PATH)

# How the file is read.
file_options = together(
    click.option(
        "--delimiter",
        metavar="CHAR",
        help=r"Delimiter of a text file, \t for a tab.  [default: detected]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal sign of a text file.  [default: detected]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a text file holds the names of the columns.  "
        "[default: detected]",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text file.  [default: UTF-8, else cp1252]",
    ),
    click.option(
        "--sheet",
        metavar="NAME",
        help="Sheet of a workbook, by its name or its number from 1 on.  [default: the "
        "first one with several rows]",
    ),
    click.option(
        "--na",
        "missing_values",
        metavar="TEXT",
        multiple=True,
        help="Text that stands for a missing value, in addition to empty cells, NA, "
        "NaN and null. Can be repeated.",
    ),
)

id_option = click.option(
    "--id",
    "id_column",
    metavar="COLUMN",
    help="Column that identifies the rows; it is kept in the output.",
)

# What of the table is used, and how.
column_options = together(
    click.option(
        "--columns",
        metavar="A,B,...",
        multiple=True,
        help="Columns to cluster by; names with blanks in quotes, as in "
        "--columns 'body mass,sex'.  [default: all but identifiers, free text and "
        "columns of one value]",
    ),
    click.option(
        "--exclude",
        metavar="A,B,...",
        multiple=True,
        help="Columns to leave out; a report still describes the clusters by them.",
    ),
    click.option(
        "--describe",
        metavar="A,B,...",
        multiple=True,
        help="Columns that do not count but describe the clusters in a report.",
    ),
    id_option,
    click.option(
        "--scale",
        type=click.Choice(SCALINGS),
        default=None,
        help="standard: mean 0, standard deviation 1; robust: median 0, interquartile "
        "range 1; none: unchanged.  [default: standard]",
    ),
    click.option(
        "--missing",
        type=click.Choice(MISSING),
        default=None,
        help="What to do with missing values. pairwise: leave the column out of pairs "
        "with such a cell; error: stop; drop: leave the rows out, with empty cells in "
        "the output; impute: fill in medians.  [default: pairwise, or impute for "
        "methods that need every cell]",
    ),
    click.option(
        "--one-hot",
        is_flag=True,
        help="Compare rows by Euclidean distances also where there are columns of "
        "text, with one indicator per category.",
    ),
    click.option(
        "--dates",
        metavar="A,B,...",
        help=f"What becomes of dates: one or more of {', '.join(DATE_PARTS)}.  "
        "[default: days]",
    ),
    click.option(
        "--cyclic",
        metavar="COLUMN=PERIOD",
        multiple=True,
        help="Column of numbers that begin again, as in hour=24. Can be repeated.",
    ),
    click.option(
        "--order",
        "orders",
        metavar="COLUMN=A,B,...",
        multiple=True,
        help="Column whose categories have an order, lowest first, as in size=S,M,L. "
        "Can be repeated.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Guess nothing: text and missing values are errors unless an option says "
        "what to do.",
    ),
    precomputed_option,
    file_options,
)


# What the sets can be about without labels.
_UNLABELLED = ("model", "replicate")


def coverage_option(words: str) -> Decorator:
    """The level of the sets, with words about what else it needs."""
    return click.option(
        "--coverage",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Also give each row a set of clusters that holds the right one with this "
        f"probability, as in 0.9. {words}",
    )


calibration_options = together(
    coverage_option(
        'What "right" means is printed; see --coverage-labels and --coverage-target.'
    ),
    click.option(
        "--coverage-labels",
        type=PATH,
        help="Table with two columns, row and known class, of 60 to 120 rows. They are "
        "left out of the fit, and the sets hold the true class.",
    ),
    click.option(
        "--coverage-target",
        type=click.Choice(_UNLABELLED),
        help="Without labels, what the sets hold. model: the component, if the data "
        "came from a fitted mixture (an estimate, no guarantee); replicate: what "
        "another clustering says (the model is fitted to 40 % of the rows).  "
        "[default: model]",
    ),
)


def checked_fields(text: str | None) -> list[str]:
    """Names of fields of the memberships, or a usage error."""
    if text is None:
        return list(FIELDS)
    fields = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in fields if name not in FIELDS]
    if unknown or not fields:
        raise click.UsageError(
            f"--fields must be one or more of {','.join(FIELDS)}, got {text!r}",
            click.get_current_context(),
        )
    return fields
