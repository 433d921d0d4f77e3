"""Arguments of ``credalis ask``."""

from typing import Any

import click

from credalis.cli._shared._options import (
    PATH,
    SETTINGS,
    debug_option,
    examples,
    file_options,
    id_option,
    json_option,
    quiet_option,
    seed_option,
)


@click.command(
    context_settings=SETTINGS,
    short_help="Answer the questions that would help a model most.",
    epilog=examples(
        "credalis ask sales.credalis sales.csv -n 10 --save-model better.credalis",
        "credalis ask sales.credalis sales.csv --to-fill --answers questions.csv",
        "credalis cluster sales.csv -c 4 --id customer --answers questions.csv",
    ),
)
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option(
    "-n",
    "--questions",
    "n_questions",
    type=click.IntRange(0),
    metavar="N",
    default=10,
    help="How many questions to ask at most; 0 asks nothing and fits again with the "
    "answers in the file.",
)
@click.option(
    "--answers",
    type=PATH,
    default="answers.csv",
    help="Where answers are kept, a CSV file with the columns first, second and "
    "answer: same, different, cannot tell, or nothing yet. Those that are there count, "
    "and open questions come first. Each answer is written at once.",
)
@click.option(
    "--to-fill",
    is_flag=True,
    help="Ask nothing: write the questions to the file of --answers, with what the "
    "rows differ in, for somebody to fill in.",
)
@click.option(
    "--save-model", type=PATH, help="Where to save the model that knows the answers."
)
@id_option
@seed_option
@file_options
@json_option
@quiet_option
@debug_option
def ask(model: str, data: str, **options: Any) -> None:
    """Answer the questions that would help a model most, and fit it again.

    MODEL is a file written by "credalis cluster --model", DATA the table that it was
    fitted to. Pairs of rows are shown side by side, with the columns they differ in:
    are they in the same cluster? Type s for same, d for different, c if you cannot
    tell, u to undo the last answer, q to stop asking. Answers may come from a pipe, a
    line each. Then the model is fitted again with the answers, and what they changed
    is shown.
    """
    from credalis.cli._ask import run

    run(model, data, **options)
