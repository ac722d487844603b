"""Exports a solved program as a standalone script.

The script is three lines of code and one JSON text. Whatever a task, a program, an answer or a
tool's document contains is data in it. Only `atc.cli.scripts` turns it into a tool, a program or a
question, with the same safety checks as every run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.archive.recording import InvalidRecording, Recording
from atc.core.version import __version__
from protocols.effects import annotate_effects, is_safe
from protocols.protocol import HttpBinding, ToolProtocol, dump, load
from protocols.schema import Json, as_mapping
from protocols.sources.operation import annotations_of
from protocols.toolbox import Tool

FORMAT = "atc script 1"
MAY_BE_WITHHELD = ("lend_credentials", "near_hosts")
"""Settings that are off for tools named by an untrusted folder. They stay off in the script."""
WHERE = "the script"
"""The script's name in messages."""
_HEAD = f"""#!/usr/bin/env python3
# Exported by atc {__version__}. Needs Python 3.11 or newer and atc (automatic-tool-chain), which runs the program in a
# sandbox, calls its tools with the credentials of your configuration, and asks what a run asks (--help says more).
# All that came from the run is data, in this one JSON text.

from atc.cli.scripts import run_script

RUN = r\'\'\'
"""
_TAIL = """
'''

if __name__ == "__main__":
    run_script(RUN)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The content of a script: a program, the tools that it calls by alias, and the task, whose
    values are trusted as user input.
    """

    task: str
    program: str
    tools: Mapping[str, ToolProtocol]
    withheld: tuple[str, ...] = ()
    """The settings of `MAY_BE_WITHHELD` that were off in the run. The script does not turn
    them on.
    """
    redacted: tuple[str, ...] = ()
    """Placeholders of values that were left out. The user inserts the values."""

    @property
    def remaining_placeholders(self) -> list[str]:
        """The placeholders that still occur in the program."""
        return [text for text in self.redacted if text in self.program]


def to_script(recording: Recording, *, withheld: Sequence[str] = ()) -> str:
    """Return the text of a script with the recorded program and the data that `atc` needs to run
    it.

    `withheld` are the settings of `MAY_BE_WITHHELD` that were off in the run.

    Raises:
        InvalidRecording: the run gave no answer, or a script cannot call one of its tools.
    """
    where = f"run {recording.run}"
    if recording.answer is None:
        problem = "it has no answer, so there is no program worth a script; 'atc runs show' has it."
        raise InvalidRecording(where, problem)
    tools = list(recording.toolbox.values())
    if others := [
        tool.alias for tool in tools if not isinstance(tool.protocol.binding, HttpBinding)
    ]:
        problem = (
            f"the tool {others[0]!r} is not called over HTTP, so a script cannot call it; replay"
            " the run instead."
        )
        raise InvalidRecording(where, problem)
    document = {
        "format": FORMAT,
        "run": recording.run,
        "task": recording.task,
        "answer": recording.answer,
        "redacted": [text for text in recording.secrets if text in recording.program],
        "credentials": list(dict.fromkeys(name for tool in tools for name in _credentials(tool))),
        "writes": [
            alias
            for alias, protocol in _reclassify_tools(recording.tools).items()
            if protocol.writes
        ],
        "withheld": list(withheld),
        "program": recording.program.rstrip("\n").split("\n"),
        "tools": {tool.alias: dump(tool.protocol) for tool in tools},
    }
    return f"{_HEAD}{_literal(document)}{_TAIL}"


def parse_script(text: str) -> Script:
    """Read the JSON text of a script, which its user may have changed.

    Raises:
        InvalidRecording: the text is not JSON, or not the content of a script.
        InvalidProtocol: one of its tools breaks the format.
    """
    try:
        document = as_mapping(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidRecording(WHERE, f"RUN is not JSON ({error}); export the run anew.") from error
    if document.get("format") != FORMAT:
        raise InvalidRecording(WHERE, f"RUN has not the format {FORMAT!r}; export the run anew.")
    task = document.get("task")
    program = document.get("program")
    tools = document.get("tools")
    lines: list[Any] = program if isinstance(program, list) else [None]
    if (
        not isinstance(task, str)
        or not isinstance(tools, dict)
        or not all(isinstance(one, str) for one in lines)
    ):
        raise InvalidRecording(
            WHERE, "RUN lacks its task, its program or its tools; export the run anew."
        )
    if not isinstance(document.get("withheld"), list):
        raise InvalidRecording(
            WHERE, "RUN does not say what was withheld from its tools; export the run anew."
        )
    loaded = {alias: load(tool, where=f"{WHERE}: tool {alias!r}") for alias, tool in tools.items()}
    if others := [
        alias for alias, tool in loaded.items() if not isinstance(tool.binding, HttpBinding)
    ]:
        raise InvalidRecording(
            WHERE, f"the tool {others[0]!r} is not called over HTTP; export the run anew."
        )
    withheld, redacted = (
        tuple(map(str, document.get(key) or ())) for key in ("withheld", "redacted")
    )
    tools = _reclassify_tools(loaded)
    source = "\n".join(lines) + "\n"
    return Script(task=task, program=source, tools=tools, withheld=withheld, redacted=redacted)


def _reclassify_tools(tools: Mapping[str, ToolProtocol]) -> dict[str, ToolProtocol]:
    """Return the tools with their effects determined anew from method and description.

    A stored read-only annotation does not turn a write into a read.
    """
    known = [
        replace(
            one, annotations=annotations_of(one.binding.method).with_stricter_hints(one.annotations)
        )
        if isinstance(one.binding, HttpBinding) and not is_safe(one)
        else one
        for one in tools.values()
    ]
    return dict(zip(tools, annotate_effects(known), strict=True))


def _credentials(tool: Tool) -> tuple[str, ...]:
    binding = tool.protocol.binding
    return tuple(binding.credential_names) if isinstance(binding, HttpBinding) else ()


def _literal(document: Json) -> str:
    """Return the document as JSON that can be placed between three single quotes of a raw string.

    It is ASCII without a single quote, and its last character is a brace, so its content cannot end
    the string.
    """
    return json.dumps(document, indent=1).replace("'", "\\u0027")
