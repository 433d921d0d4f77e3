"""``credalis completion``: the script that makes a shell complete words."""

import click
from click.shell_completion import get_completion_class

from credalis.cli._shared._options import SETTINGS, debug_option

_LINES = {
    "bash": '~/.bashrc: eval "$(credalis completion bash)"',
    "zsh": '~/.zshrc: eval "$(credalis completion zsh)"',
    "fish": "~/.config/fish/config.fish: credalis completion fish | source",
}


@click.command(
    context_settings=SETTINGS,
    short_help="Print a script for completion in a shell.",
    epilog="\b\nTo switch it on, add a line to\n  " + "\n  ".join(_LINES.values()),
)
@click.argument("shell", type=click.Choice(list(_LINES)))
@debug_option
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands, options and file names."""
    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    root = context.find_root().command
    script = kind(root, {}, "credalis", "_CREDALIS_COMPLETE").source()
    click.echo(script)
