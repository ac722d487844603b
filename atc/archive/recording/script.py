"""Exporting a solved program as a Python script.

The script has three lines of code and one JSON text with the task, the program, the answer and the
protocols of the tools. These are data: `atc.cli.scripts` runs the program in the sandbox with the
same safety checks as every run, and asks the same questions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from atc.archive.recording import InvalidRecording, Recording
from atc.core.task import InvalidTask, read_context
from atc.core.version import __version__
from protocols.effects import annotate_effects, is_safe
from protocols.protocol import HttpBinding, ToolProtocol, dump, load
from protocols.schema import Json, JsonObject, as_mapping
from protocols.sources.operation import annotations_of
from protocols.tool import Tool

FORMAT = "atc script 1"
MAY_BE_WITHHELD = ("lend_credentials", "near_hosts")
"""Settings that an untrusted `atc.toml` turns off for its tools. They stay off in the script."""
WHERE = "the script"
"""How messages name the script."""
_HEAD = f"""#!/usr/bin/env python3
# Exported by atc {__version__}. Needs Python 3.11 or newer and atc (automatic-tool-chain), which
# runs the program in a sandbox, calls its tools with the credentials of your configuration, and
# asks what a run asks (--help says more). All that came from the run is data, in one JSON text.

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
    """The data in an exported script, as `parse_script` reads it."""

    task: str
    """What the user said. Values in it are trusted like those that the user types.

    It is "" if the user wrote the program.
    """
    program: str
    """Source of the program."""
    tools: Mapping[str, ToolProtocol]
    """The protocols of the tools that the program calls, keyed by alias."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments of a program of the user's own; their values are trusted, each as a whole."""
    clock: float | None = None
    """Unix time at which the program's clock starts, if the run was given a date, or None."""
    withheld: tuple[str, ...] = ()
    """Settings of `MAY_BE_WITHHELD` that were off in the run, and stay off in the script."""
    redacted: tuple[str, ...] = ()
    """The placeholders that replaced secrets in the program when it was exported."""

    @property
    def remaining_placeholders(self) -> list[str]:
        """The placeholders in the program for which the user has not inserted the value yet."""
        return [text for text in self.redacted if text in self.program]


def to_script(recording: Recording, *, withheld: Sequence[str] = ()) -> str:
    """Return the text of a Python script that runs the recorded program.

    `withheld` names the settings in `MAY_BE_WITHHELD` that were off in the run. They stay off in
    the script.

    Raises:
        InvalidRecording: The run gave no answer, or a script cannot call one of its tools.
    """
    where = f"run {recording.run}"
    if recording.answer is None:
        problem = "it has no answer, so there is no program worth a script; 'atc runs show' has it."
        raise InvalidRecording(where, problem)
    tools = list(recording.toolbox.values())
    if other := _find_tool_without_http(recording.tools):
        problem = (
            f"the tool {other!r} is not called over HTTP, so a script cannot call it; replay the"
            " run instead."
        )
        raise InvalidRecording(where, problem)
    effects = _reclassify_tools(recording.tools)
    document = {
        "format": FORMAT,
        "run": recording.run,
        "task": "" if recording.context.names_program else recording.task,
        "arguments": dict(recording.context.arguments),
        "now": recording.context.now,
        "answer": recording.answer,
        "redacted": [text for text in recording.secrets if text in recording.program],
        "credentials": list(dict.fromkeys(name for tool in tools for name in _credentials(tool))),
        "writes": [alias for alias, protocol in effects.items() if protocol.writes],
        "withheld": list(withheld),
        "program": recording.program.rstrip("\n").split("\n"),
        "tools": {tool.alias: dump(tool.protocol) for tool in tools},
    }
    return f"{_HEAD}{_literal(document)}{_TAIL}"


def parse_script(text: str) -> Script:
    """Return the data in the JSON text of a script. The user may have edited the text.

    Raises:
        InvalidRecording: The text is not JSON, or not the data of a script.
        InvalidProtocol: The protocol of a tool in it is invalid.
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
    is_program = all(isinstance(line, str) for line in lines)
    if not (isinstance(task, str) and isinstance(tools, dict) and is_program):
        raise InvalidRecording(
            WHERE, "RUN lacks its task, its program or its tools; export the run anew."
        )
    if not isinstance(document.get("withheld"), list):
        raise InvalidRecording(
            WHERE, "RUN does not say what was withheld from its tools; export the run anew."
        )
    now = document.get("now") or None
    try:
        clock = read_context(now=now).clock
    except InvalidTask as error:
        raise InvalidRecording(WHERE, f"RUN: {error}") from error
    loaded = {alias: load(tool, where=f"{WHERE}: tool {alias!r}") for alias, tool in tools.items()}
    if other := _find_tool_without_http(loaded):
        raise InvalidRecording(
            WHERE, f"the tool {other!r} is not called over HTTP; export the run anew."
        )
    return Script(
        task=task,
        program="\n".join(lines) + "\n",
        tools=_reclassify_tools(loaded),
        arguments=as_mapping(document.get("arguments")),
        clock=clock,
        withheld=tuple(map(str, document["withheld"])),
        redacted=tuple(map(str, document.get("redacted") or ())),
    )


def _find_tool_without_http(tools: Mapping[str, ToolProtocol]) -> str | None:
    """Return the alias of the first tool that is not called over HTTP; None if all are."""
    aliases = (a for a, tool in tools.items() if not isinstance(tool.binding, HttpBinding))
    return next(aliases, None)


def _reclassify_tools(tools: Mapping[str, ToolProtocol]) -> dict[str, ToolProtocol]:
    """Return the tools, classified as reads or writes anew, by HTTP method and description.

    So an edited annotation in the script cannot make a write count as a read.
    """
    strict = [_add_hints_of_method(protocol) for protocol in tools.values()]
    return dict(zip(tools, annotate_effects(strict), strict=True))


def _add_hints_of_method(protocol: ToolProtocol) -> ToolProtocol:
    """Return a protocol whose annotations are at least as strict as its HTTP method implies."""
    if not isinstance(protocol.binding, HttpBinding) or is_safe(protocol):
        return protocol
    hints = annotations_of(protocol.binding.method).with_stricter_hints(protocol.annotations)
    return replace(protocol, annotations=hints)


def _credentials(tool: Tool) -> tuple[str, ...]:
    """Return the names of the credentials that a tool uses."""
    binding = tool.protocol.binding
    return tuple(binding.credential_names) if isinstance(binding, HttpBinding) else ()


def _literal(document: Json) -> str:
    """Return a document as JSON that can be put between `r'''` and `'''` in Python code.

    The text is ASCII without single quotes, and its last character is a brace, so the string
    cannot end too early.
    """
    return json.dumps(document, indent=1).replace("'", "\\u0027")
