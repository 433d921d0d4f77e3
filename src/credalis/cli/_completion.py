"""``credalis completion``: the script that makes a shell complete words."""

import click
from click.shell_completion import get_completion_class

from credalis.cli._shared._options import SETTINGS, debug_option

_FILES = {
    "bash": 'eval "$(credalis completion bash)"  in  ~/.bashrc',
    "zsh": 'eval "$(credalis completion zsh)"  in  ~/.zshrc',
    "fish": "credalis completion fish | source  in  ~/.config/fish/config.fish",
}


@click.command(
    context_settings=SETTINGS,
    short_help="Let a shell complete words.",
    epilog="\b\nTo switch it on, put\n" + "\n".join(_FILES.values()),
)
@click.argument("shell", type=click.Choice(list(_FILES)))
@debug_option
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options and files."""
    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    root = context.find_root().command
    script = kind(root, {}, "credalis", "_CREDALIS_COMPLETE").source()
    click.echo(script)
