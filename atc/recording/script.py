"""A solved program as a script of its own."""

from __future__ import annotations

from collections.abc import Sequence

from atc import __version__
from atc.recording import InvalidRecording, Recording
from protocols.protocol import HttpBinding, dump
from protocols.toolbox import Tool

_KEPT = ("name", "inputSchema", "outputSchema", "annotations", "binding")
"""What a call needs of a tool's document."""


def to_script(recording: Recording) -> str:
    """The recorded program with what `atc` needs to run it over its tools, as the text of a script.

    It has the credentials and the sandbox of the configuration under which it runs.

    Raises:
        InvalidRecording: the run gave no answer, or a tool of it cannot be called by a script.
    """
    where = f"run {recording.run}"
    if recording.answer is None:
        problem = "it has no answer, so there is no program worth a script; 'atc runs show' has it."
        raise InvalidRecording(where, problem)
    tools = list(recording.toolbox.values())
    if others := [tool.alias for tool in tools if not isinstance(tool.protocol.binding, HttpBinding)]:
        problem = f"the tool {others[0]!r} is not called over HTTP, so a script cannot call it; replay the run instead."
        raise InvalidRecording(where, problem)
    documents = ({key: value for key, value in dump(tool.protocol).items() if key in _KEPT} for tool in tools)
    lines = "".join(f"    {tool.alias!a}: {document!a},\n" for tool, document in zip(tools, documents, strict=True))
    program = recording.program.rstrip("\n").replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return (
        f"{_header(recording, tools)}\n\nfrom atc.cli.scripts import run_script\n\n"
        f"TOOLS = {{\n{lines}}}\n\n"
        f'PROGRAM = """\\\n{program}\n"""\n\n'
        "run_script(PROGRAM, TOOLS)\n"
    )


def _header(recording: Recording, tools: Sequence[Tool]) -> str:
    """Comments alone: nothing that a task or an answer says can become code."""
    writes = [tool.alias for tool in tools if tool.protocol.writes]
    bindings = [tool.protocol.binding for tool in tools]
    names = dict.fromkeys(name for one in bindings if isinstance(one, HttpBinding) for name in one.credential_names)
    hidden = [text for text in recording.secrets if text in recording.program]
    lines = [
        *_plain_lines(recording.task),
        "",
        f"Exported by atc {__version__} from run {recording.run}, which answered:",
        *(f"    {line}" for line in _plain_lines(recording.answer or "")),
        "",
        "Needs Python 3.11 or newer and atc (automatic-tool-chain), which runs the program in a sandbox.",
        *([f"Sends credentials of your configuration to their hosts: {', '.join(names)}."] if names else []),
        *([f"It changes things ({', '.join(writes)}): each run does so again, with --allow-writes."] if writes else []),
        *(f"{text} stands for a value that was redacted; put it in." for text in hidden),
    ]
    return "#!/usr/bin/env python3\n" + "\n".join(f"# {line}".rstrip() for line in lines)


def _plain_lines(text: str) -> list[str]:
    return ["".join(c if c.isprintable() else " " for c in line)[:200] for line in text.splitlines()[:20]]
