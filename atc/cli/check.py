"""`atc check`: what is wrong with a program, before any of its calls is made."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from atc.check import characters, render_place
from atc.check import check as findings_of
from atc.cli.options import json_option, tools_options
from atc.cli.output import print_json, print_text, read_stdin, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_toolbox
from atc.terminal import count
from atc.types import Program

_EPILOG = """\b
Examples:
  atc check program.py --tools openapi.json
  generate | atc check - --tools openapi.json --json
"""


@click.command(epilog=_EPILOG)
@click.argument("program", type=click.Path(path_type=Path, allow_dash=True, dir_okay=False), metavar="PROGRAM")
@tools_options
@json_option
def check(*, program: Path, as_json: bool, **flags: Any) -> None:
    """Check PROGRAM ('-' reads stdin) against the tools that it calls.

    Nothing is run and no tool is called. Found are unknown tools and arguments, literals that a schema does not allow,
    and keys that a response does not have, with the line, a caret and the nearest name. Exit status 1 if anything is
    certainly wrong; what only may go wrong, such as a field that can be null, is a note. Lines and columns, in
    characters, count from 1.
    """
    try:
        source = Program(read_stdin() if str(program) == "-" else program.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise click.UsageError(f"cannot read {str(program)!r} ({why}); give a file with a Python program") from error
    with open_toolbox(load_config(flags)[0]) as toolbox:
        found = findings_of(source, toolbox)
    documents = []
    for finding in found:
        start, end = characters(finding, source)
        # Columns as an editor counts them: characters from 1, the end excluded.
        documents.append({"file": str(program), **asdict(finding), "column": start + 1, "end_column": end + 1})
        if not as_json:
            kind = "error" if finding.certain else "note"
            head = f"{program}:{finding.line}:{start + 1}: {kind}: {finding.message} [{finding.code}]"
            print_text(f"{head}{render_place(finding, source)}\n")
    errors = sum(finding.certain for finding in found)
    if as_json:
        print_json(documents)
    else:
        notes = f", {count(len(found) - errors, 'note')}" if len(found) > errors else ""
        say(f"{count(errors, 'error')}{notes}" if found else "nothing found")
    sys.exit(1 if errors else 0)
