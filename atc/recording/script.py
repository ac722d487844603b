"""A solved program as a script of its own."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from typing import Any

from atc.recording.recording import InvalidRecording, Recording
from protocols.parsing import parse
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, ToolProtocol, dump
from protocols.toolbox import Tool

_KEPT = ("name", "inputSchema", "outputSchema", "annotations", "binding")
"""What a call needs of a tool's document."""

_SHOW = '''def _show(value):
    """Print the program's answer, which is the value of its last expression."""
    print(value if isinstance(value, str) else _json.dumps(value, ensure_ascii=False, default=repr))
'''


def to_script(recording: Recording, *, credentials: Mapping[str, Any], modules: Mapping[str, str]) -> str:
    """The recorded program with what `atc` needs to call its tools, as the text of a script.

    `credentials` are the configured ones by name, none with its value; the script has those of the configuration under
    which it runs. `modules` is the source of each Python module (`maths` → `src/maths.py`).

    Raises:
        InvalidRecording: the run gave no answer, or a tool of it cannot be called by a script.
    """
    where = f"run {recording.run}"
    if recording.answer is None:
        raise InvalidRecording(
            where, "it has no answer, so there is no program worth a script; 'atc runs show' has it."
        )
    tools = list(recording.toolbox.values())
    for tool in tools:
        if not isinstance(tool.protocol.binding, HttpBinding | PythonBinding):
            why = "belongs to an MCP server" if isinstance(tool.protocol.binding, McpBinding) else "has no binding"
            if isinstance(tool.protocol.binding, ProgramBinding):
                why = "is a saved program"
            raise InvalidRecording(
                where,
                f"the tool {tool.alias!r} {why}, so a script cannot call it; replay it from a run file instead.",
            )
    future, program = _program(recording)
    by_value = _answers_by_value(recording)
    parts = [
        _header(recording, tools, credentials),
        future,
        ("import json as _json\n\n" if by_value else "") + (_loading(tools, modules) if tools else ""),
        _SHOW if by_value else "",
        f"# The program, as it ran.\n\n{program}",
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _header(recording: Recording, tools: Sequence[Tool], credentials: Mapping[str, Any]) -> str:
    """Comments alone: nothing that a task or an answer says can become code."""
    writes = [tool.alias for tool in tools if tool.protocol.writes]
    lines = [
        *_plain_lines(recording.task),
        "",
        f"Exported by atc {recording.versions.get('atc', '?')} from run {recording.run}, which answered:",
        *(f"    {line}" for line in _plain_lines(recording.answer or "")),
        "",
        "Needs Python 3.11 and atc (automatic-tool-chain). Its clock and `random` are the real ones.",
        *(
            f"Sends the credential {name!r} of your configuration ('atc config') to {', '.join(hosts)}."
            for name, hosts in _credentials(tools, credentials).items()
        ),
        *([f"It changes things ({', '.join(writes)}): each run does so again, with --allow-writes."] if writes else []),
        *(
            f"{text} stands for a value that was redacted; put it in."
            for text in recording.secrets
            if text in recording.program
        ),
    ]
    return "#!/usr/bin/env python3\n" + "\n".join(f"# {line}".rstrip() for line in lines)


def _credentials(tools: Sequence[Tool], configured: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Of each tool the credentials that are configured, else the first that it names, with their hosts."""
    found: dict[str, Sequence[str]] = {}
    for tool in tools:
        names = tool.protocol.binding.credentials if isinstance(tool.protocol.binding, HttpBinding) else ()
        for name in [name for name in names if name in configured] or names[:1]:
            found[name] = configured.get(name, {}).get("hosts") or ["no host yet"]
    return found


def _loading(tools: Sequence[Tool], modules: Mapping[str, str]) -> str:
    """The tools as functions, made of their documents: data, whatever these say."""
    documents = "".join(f"    {_needed(tool.protocol)!a},\n" for tool in tools)
    named = [tool.protocol.binding.module for tool in tools if isinstance(tool.protocol.binding, PythonBinding)]
    sources = [modules.get(module, module) for module in dict.fromkeys(named)]
    more = f", modules={sources!r}" if sources else ""
    return (
        "from atc import ToolError\nfrom atc.cli.scripts import script_tools as _script_tools\n\n"
        f"_TOOLS = [\n{documents}]\n[{', '.join(tool.alias for tool in tools)}] = _script_tools(_TOOLS{more})\n"
    )


def _needed(protocol: ToolProtocol) -> dict[str, Any]:
    return {key: value for key, value in dump(protocol).items() if key in _KEPT}


def _plain_lines(text: str) -> list[str]:
    return ["".join(c if c.isprintable() else " " for c in line)[:200] for line in text.splitlines()[:20]]


def _answers_by_value(recording: Recording) -> bool:
    return not recording.trace.stdout.strip()


def _program(recording: Recording) -> tuple[str, str]:
    """Its imports from `__future__`, which must come first, and the rest of it as a script has it."""
    source = recording.program.replace("\r\n", "\n").replace("\r", "\n")
    tree = parse(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    lines = source.encode("utf-8", "replace").split(b"\n")  # columns of a tree count bytes
    body = tree.body
    if _answers_by_value(recording) and body and isinstance(body[-1], ast.Expr):
        _insert(lines, body[-1].end_lineno or 0, body[-1].end_col_offset or 0, b")")
        _insert(lines, body[-1].lineno, body[-1].col_offset, b"_show(")
    future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    names = dict.fromkeys(alias.name for node in future for alias in node.names)
    for node in future:
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            lines[number - 1] = b""
    text = b"\n".join(lines).decode("utf-8")
    awaits = any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in _own_nodes(tree))
    return f"from __future__ import {', '.join(names)}" if names else "", _in_main(text, tree) if awaits else text


def _insert(lines: list[bytes], line: int, column: int, text: bytes) -> None:
    lines[line - 1] = lines[line - 1][:column] + text + lines[line - 1][column:]


def _own_nodes(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a program that stand in none of its functions."""
    found: list[ast.AST] = []
    inside = [tree]
    while inside:
        node = inside.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside += ast.iter_child_nodes(node)
    return found


def _in_main(source: str, tree: ast.Module) -> str:
    """A program that awaits at top level, as the body of a function; what its functions call global stays so."""
    kept = _inside_texts(source)
    shifted = [
        line if number in kept or not line.strip() else f"    {line}"
        for number, line in enumerate(source.split("\n"), start=1)
    ]
    shared = dict.fromkeys(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
    declared = f"    global {', '.join(shared)}\n" if shared else ""
    body = "\n".join(shifted).rstrip("\n")
    return f"import asyncio as _asyncio\n\n\nasync def _main():\n{declared}{body}\n\n\n_asyncio.run(_main())\n"


def _inside_texts(source: str) -> set[int]:
    """The lines that begin within a text of several lines: to indent them would change it."""
    starts: list[int] = []
    kept: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "STRING":
            kept.update(range(token.start[0] + 1, token.end[0] + 1))
        elif name.endswith("STRING_START"):
            starts.append(token.start[0])
        elif name.endswith("STRING_END"):
            kept.update(range(starts.pop() + 1, token.end[0] + 1))
    return kept
