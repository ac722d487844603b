"""`atc check`: find errors in a program without running it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from atc.cli.options import Verb, tools_options
from atc.cli.output import print_result, read_text, say
from atc.cli.wiring import open_toolbox
from atc.core.program import Program
from atc.core.text import count
from atc.pipeline.check import character_span, render_place
from atc.pipeline.check import check as findings_of
from atc.settings.reading import load_config


@click.command(
    cls=Verb,
    examples=[
        "atc check program.py --tools openapi.json",
        "generate | atc check - --tools openapi.json --json",
    ],
)
@click.argument("program")
@tools_options
def check(program: str, **flags: Any) -> None:
    """Check PROGRAM ('-' reads stdin) against the tools that it calls.

    Nothing is run and no tool is called. The check finds unknown tools and arguments, literals that
    a schema does not allow, and keys that a response does not have. It shows the line, marks the
    mistake with a caret, and suggests the most similar name. Exit status 1 if there is a certain
    mistake. A mistake that depends on the data, such as reading a field that can be null, is shown
    as a note. Lines and columns are counted from 1, columns in characters.
    """
    source = Program(read_text(program))
    with open_toolbox(load_config(flags)) as toolbox:
        found = findings_of(source, toolbox)
    documents = []
    lines = []
    for finding in found:
        start, end = character_span(finding, source)
        # Columns as an editor counts them: characters from 1, the end excluded.
        documents.append(
            {"file": program, **asdict(finding), "column": start + 1, "end_column": end + 1}
        )
        kind = "error" if finding.certain else "note"
        head = f"{program}:{finding.line}:{start + 1}: {kind}: {finding.message} [{finding.code}]"
        lines.append(f"{head}{render_place(finding, source)}\n")
    errors = sum(finding.certain for finding in found)
    notes = f", {count(len(found) - errors, 'note')}" if len(found) > errors else ""
    print_result(documents, "\n".join(lines))
    say(f"{count(errors, 'error')}{notes}" if found else "nothing found")
    sys.exit(1 if errors else 0)
