"""Compiles a program, runs it, and describes how it ended.

This module imports only the standard library and other modules of the sandbox.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import mmap
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from types import CodeType, TracebackType
from typing import Any

from sandbox import returns
from sandbox.channel import Interrupted, RecentReplies
from sandbox.file_objects import note_files
from sandbox.frames import MESSAGE_CHARACTERS, failure_frame, safe_repr, shorten, to_plain_json
from sandbox.zygote.child import rewrite
from sandbox.zygote.child.hints import evaluated_position, find_hints

FILENAME = "<program>"
SAVED = "<saved tool> "  # prefix of a saved tool's file name; its alias follows
OUTER_FRAMES = 10
INNER_FRAMES = 30
"""Number of levels that are reported at the inner end of a long traceback.

`OUTER_FRAMES` is the number at its outer end. The levels between them are left out."""

_reserve = mmap.mmap(-1, 4 << 20, access=mmap.ACCESS_COPY)
"""Memory that is released before a failure is reported, because the program may have used all of
its memory. It is a private mapping, because all children would share another one."""

CallSite = tuple[int, str]
"""Where a tool is called: the line of the program (0 if unknown), and the alias of the saved tool
that makes the call ("" if the program itself makes it)."""

call_site_of_task: ContextVar[CallSite] = ContextVar("call_site_of_task", default=(0, ""))
"""The call site that is reported for a call that the program's functions do not make directly.

An example is a call that the event loop makes for `asyncio.to_thread`."""


def run(source: str, namespace: dict[str, Any], replies: RecentReplies) -> dict[str, Any]:
    """Run a program, and return the last frame of the run, which says how the program ended.

    Args:
        source: the program. It may use `await` outside of functions.
        namespace: the global variables of the program.
        replies: the replies that the program receives. If it fails, they are searched for values of
            the failing expression.
    """
    try:
        parts = _compile(source, namespace)
    except SyntaxError as error:
        return failure_frame(
            "syntax", type(error).__name__, str(error.msg), [[error.lineno or 1, "<module>"]]
        )
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        text = str(error) or "it is too large or too deeply nested"
        return failure_frame(
            "syntax", "SyntaxError", f"the program cannot be compiled: {text}", [[1, "<module>"]]
        )
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    value = None
    runner = None
    try:
        try:
            for part in parts:
                value = eval(part, namespace)  # noqa: S307 - runs the program
                if part.co_flags & inspect.CO_COROUTINE:
                    runner = runner or asyncio.Runner()
                    value = runner.run(value)
        finally:
            if runner is not None:
                runner.close()
        note_files(value)
        return {"done": to_plain_json(value)}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is how the program ended
        return failure(error, source, replies)


def failure(error: BaseException, source: str, replies: RecentReplies) -> dict[str, Any]:
    """Return the frame that tells the host that a program ended with the exception `error`."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return {"done": None}
    _reserve.close()
    while isinstance(error, BaseExceptionGroup) and (
        len(error.exceptions) == 1 or _has_only_failed_calls(error)
    ):
        error = error.exceptions[0]
    frames = _frames_of(error)
    if isinstance(error, Interrupted):
        return failure_frame("limit", "cpu_seconds", "", frames)
    if isinstance(error, MemoryError):
        traceback.clear_frames(error.__traceback__)  # frees what the program's variables hold
        return failure_frame("limit", "memory_bytes", "", frames)
    number = getattr(error, "_call_number", None)
    hints = find_hints(_levels(error), source, replies) if isinstance(error, Exception) else []
    message = _message(error)
    within = _saved_tool_of(error)
    if within and number is None:
        message = (
            shorten(message, MESSAGE_CHARACTERS - 200) + f" (within the saved tool {within!r})"
        )
    return failure_frame("exception", type(error).__name__, message, frames, number, hints)


def _has_only_failed_calls(group: BaseExceptionGroup[Any]) -> bool:
    """Return True if all exceptions in a group are failures of tool calls."""
    left: list[BaseException] = [group]
    while left:
        error = left.pop()
        if isinstance(error, BaseExceptionGroup):
            left += error.exceptions
        elif getattr(error, "_call_number", None) is None:
            return False
    return True


def current_call_site() -> CallSite:
    """Return (line, saved tool) for the code of the program that is being executed.

    The second item is the alias of the saved tool in which the program is, or "".
    """
    frame = sys._getframe(1)  # noqa: SLF001 - how a frame is had
    within = ""
    while frame is not None and (file := frame.f_code.co_filename) != FILENAME:
        if file.startswith(SAVED):
            within = file.removeprefix(SAVED)
        frame = frame.f_back  # type: ignore[assignment]
    line, saved_tool = call_site_of_task.get()
    if line and (frame is None or frame.f_code.co_name == "<module>"):
        return line, within or saved_tool
    return (0 if frame is None else frame.f_lineno), within


def define_saved_tools(texts: dict[str, str], source: str, namespace: dict[str, Any]) -> None:
    """Define the functions of saved tools. `texts` is their source code, keyed by alias.

    They can be awaited if the program `source` may await anything.
    """
    for alias, text in texts.items():
        tree = ast.parse(text)
        if rewrite.is_concurrent(source):
            tree = rewrite.rewrite(tree, _tools_in(namespace))
        code = compile(tree, SAVED + alias, "exec", dont_inherit=True)
        exec(code, namespace)  # noqa: S102 - runs like the program


def _tools_in(namespace: dict[str, Any]) -> list[str]:
    return [name for name, value in namespace.items() if rewrite.is_tool(value)]


def _compile(source: str, namespace: dict[str, Any]) -> list[CodeType]:
    """Return the compiled program as one or two code objects.

    A program that awaits or uses threads is rewritten, so that its tool calls can run side by side.

    Raises:
        SyntaxError: the program has an error of syntax.
    """
    if rewrite.is_concurrent(source):
        with suppress(SyntaxError, RecursionError):  # also of a program that is right as it is
            return _compile_tree(rewrite.rewrite(_parse(source), _tools_in(namespace)))
    return _compile_tree(_parse(source))


def _parse(source: str) -> ast.Module:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    tree: ast.Module = compile(source, FILENAME, "exec", flags, dont_inherit=True)
    return tree


def _compile_tree(tree: ast.Module) -> list[CodeType]:
    """Return the code objects of a program, see `_compile`.

    If the program ends with an expression, the second one is this expression, whose value is
    needed.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    body = list(tree.body)
    parts = []
    try:
        if body and isinstance(last := body[-1], ast.Expr):
            body.pop()
            value = ast.Expression(last.value)
            parts = [compile(value, FILENAME, "eval", flags, dont_inherit=True)]
        module = ast.Module(body, tree.type_ignores)
        return [compile(module, FILENAME, "exec", flags, dont_inherit=True), *parts]
    except SyntaxError:
        if not returns.has_return(tree):
            raise
    return [returns.compile_returning(tree, FILENAME)]


def _levels(error: BaseException) -> list[TracebackType]:
    """Return the levels of an exception's traceback that are in the program, outermost first.

    The middle of a long traceback is left out.
    """
    found = [step for step in _steps(error) if step.tb_frame.f_code.co_filename == FILENAME]
    if len(found) > OUTER_FRAMES + INNER_FRAMES:
        found[OUTER_FRAMES:-INNER_FRAMES] = []
    return found


def _saved_tool_of(error: BaseException) -> str:
    """Return the alias of the saved tool in which an error occurred, or ""."""
    within = ""
    for step in _steps(error):
        file = step.tb_frame.f_code.co_filename
        within = "" if file == FILENAME else within or file.partition(SAVED)[2]
    return within


def _steps(error: BaseException) -> Iterator[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def _frames_of(error: BaseException) -> list[list[Any]]:
    """Return lines and functions of the levels of a traceback that are in the program.

    Each is [line, function], or [line, function, column, end line, end column] if known. The
    outermost level comes first.
    """
    frames = []
    for step in _levels(error):
        position = evaluated_position(step)
        is_known = position is not None and position[0] == step.tb_lineno
        columns = position[1:] if position is not None and is_known else ()
        frames.append([step.tb_lineno, step.tb_frame.f_code.co_name, *columns])
    return frames


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a program's own __str__ may raise anything
        return safe_repr(error)
