"""`atc completion`: print the script with which a shell completes the command line of `atc`.

The script asks `atc` for the candidates; `atc.cli.completion_reply` answers it.
"""

from __future__ import annotations

import click

from atc.cli.options import Verb
from atc.cli.output import print_result
from atc.cli.shell_scripts import SCRIPTS


@click.command(
    cls=Verb,
    examples=[
        "atc completion bash > ~/.local/share/bash-completion/completions/atc",
        'atc completion zsh > "${fpath[1]}/_atc"',
        "atc completion fish > ~/.config/fish/completions/atc.fish",
    ],
)
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def completion(shell: str) -> None:
    """Print the script that completes commands of atc in a shell.

    SHELL is bash, zsh or fish. Write the script to the file in the example, and open a new shell.
    The Tab key then completes verbs, options, names of models and strategies, files, and the ids of
    the latest runs.
    """
    script = SCRIPTS[shell]
    print_result({"shell": shell, "script": script}, script.rstrip("\n"))
