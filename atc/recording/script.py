"""A solved program as a script of its own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence

from atc.recording import InvalidRecording, Recording
from protocols.parsing import parse, without_warnings
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, dump
from protocols.toolbox import Tool

_KEPT = ("name", "inputSchema", "outputSchema", "annotations", "binding")
"""What a call needs of a tool's document."""

_SHOW = '''def _show(value):
    """Print the program's answer, which is the value of its last expression."""
    print(value if isinstance(value, str) else _json.dumps(value, ensure_ascii=False, default=repr))
'''


def to_script(recording: Recording, *, modules: Mapping[str, str]) -> str:
    """The recorded program with what `atc` needs to call its tools, as the text of a script.

    It has the credentials of the configuration under which it runs. `modules` is the source of each Python module
    (`maths` → `src/maths.py`).

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
                where, f"the tool {tool.alias!r} {why}, so a script cannot call it; replay it from a run file instead."
            )
    by_value = not recording.trace.stdout.strip()
    future, program = _program(recording.program, by_value=by_value)
    parts = [
        _header(recording, tools),
        future,
        ("import json as _json\n\n" if by_value else "") + (_loading(tools, modules) if tools else ""),
        _SHOW if by_value else "",
        f"# The program, as it ran.\n\n{program}",
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _header(recording: Recording, tools: Sequence[Tool]) -> str:
    """Comments alone: nothing that a task or an answer says can become code."""
    writes = [tool.alias for tool in tools if tool.protocol.writes]
    bindings = [tool.protocol.binding for tool in tools]
    names = dict.fromkeys(name for one in bindings if isinstance(one, HttpBinding) for name in one.credential_names)
    lines = [
        *_plain_lines(recording.task),
        "",
        f"Exported by atc {recording.versions.get('atc', '?')} from run {recording.run}, which answered:",
        *(f"    {line}" for line in _plain_lines(recording.answer or "")),
        "",
        "Needs Python 3.11 and atc (automatic-tool-chain). Its clock and `random` are the real ones.",
        *([f"Sends credentials of your configuration to their hosts: {', '.join(names)}."] if names else []),
        *([f"It changes things ({', '.join(writes)}): each run does so again, with --allow-writes."] if writes else []),
        *(
            f"{text} stands for a value that was redacted; put it in."
            for text in recording.secrets
            if text in recording.program
        ),
    ]
    return "#!/usr/bin/env python3\n" + "\n".join(f"# {line}".rstrip() for line in lines)


def _loading(tools: Sequence[Tool], modules: Mapping[str, str]) -> str:
    """The tools as functions, made of their documents: data, whatever these say."""
    needed = ({key: value for key, value in dump(tool.protocol).items() if key in _KEPT} for tool in tools)
    documents = "".join(f"    {document!a},\n" for document in needed)
    named = [tool.protocol.binding.module for tool in tools if isinstance(tool.protocol.binding, PythonBinding)]
    sources = [modules.get(module, module) for module in dict.fromkeys(named)]
    more = f", modules={sources!r}" if sources else ""
    return (
        "from atc import ToolError\nfrom atc.cli.scripts import script_tools as _script_tools\n\n"
        f"_TOOLS = [\n{documents}]\n[{', '.join(tool.alias for tool in tools)}] = _script_tools(_TOOLS{more})\n"
    )


def _plain_lines(text: str) -> list[str]:
    return ["".join(c if c.isprintable() else " " for c in line)[:200] for line in text.splitlines()[:20]]


def _program(source: str, *, by_value: bool) -> tuple[str, str]:
    """Its imports from `__future__`, which must come first, and the rest of it as a script has it.

    A program that prints its answer and never awaits at top level stays as it is. Another one is written anew from its
    syntax tree: its last expression is shown, and what awaits becomes the body of a function.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    tree = parse(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    with without_warnings():
        code = compile(tree, "program.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaits = bool(code.co_flags & inspect.CO_COROUTINE)
    if not (future or awaits or by_value):
        return "", source
    body = [node for node in tree.body if node not in future]
    if by_value and body and isinstance(last := body[-1], ast.Expr):
        body[-1] = ast.Expr(ast.Call(ast.Name("_show", ast.Load()), [last.value], []))
    if awaits:
        shared = dict.fromkeys(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
        main = ast.parse("async def _main(): pass").body[0]
        assert isinstance(main, ast.AsyncFunctionDef)
        main.body = [*([ast.Global(list(shared))] if shared else []), *body]
        body = [*ast.parse("import asyncio as _asyncio").body, main, *ast.parse("_asyncio.run(_main())").body]
    texts = [ast.unparse(ast.fix_missing_locations(ast.Module(list(part), []))) for part in (future, body)]
    return texts[0], texts[1] + "\n"
