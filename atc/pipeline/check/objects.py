"""Attributes and methods of the objects that programs get from the runtime: files, and errors."""

from __future__ import annotations

import ast

from atc.core.messages import find_nearest, format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.responses import FileType
from atc.pipeline.check.syntax import walk_nodes

_READ = "read_text(), lines(), rows() of CSV, json() or read_bytes()"


_FIELDS: dict[str, t.Type] = {
    "name": t.STR,
    "media_type": t.STR,
    "sha256": t.STR,
    "size": t.INT,
}
_METHODS: dict[str, t.Type] = {
    "read_text": t.STR,
    "read_bytes": t.Atom("bytes"),
    "json": t.ANY,
    "open": t.ANY,
    "preview": t.ANY,
}
_LISTS = {"lines": t.STR, "rows": t.ANY}
"""Methods that return a list, with the types of its items."""
_INSTEAD = {
    "read": "read_text()",
    "text": "read_text()",
    "content": "read_bytes()",
    "decode": "read_text()",
    "splitlines": "lines()",
    "split": "lines()",
    "readlines": "lines()",
    "filename": "name",
    "content_type": "media_type",
    "mime_type": "media_type",
    "length": "size",
    "get": "json()",
    "items": "json()",
    "keys": "json()",
}
"""What a program means by an attribute of a text, a response or a dict."""
_NAMES = {**dict.fromkeys(_FIELDS), **dict.fromkeys(_METHODS), **dict.fromkeys(_LISTS)}


def file_has_attribute(core: Interpreter, file: FileType, node: ast.Attribute) -> bool:
    """Return True if a file may have the attribute. Otherwise report the access."""
    if node.attr in _NAMES or node.attr.startswith("__") or core.catches("AttributeError"):
        return True
    text = format_expression(node.value)
    near = _INSTEAD.get(node.attr) or find_nearest(node.attr, _NAMES)
    then = f" Write {text}.{near}." if near else ""
    message = (
        f"{text} is a File and has no attribute {node.attr!r}: it has name, media_type and size,"
        f" and is read with {_READ}.{then}"
    )
    core.report("no-attribute", node, message, tool=file.tool)
    return False


def file_field(name: str) -> t.Type:
    """Return the type of an attribute of a file."""
    return _FIELDS.get(name, t.ANY)


def call_file_method(core: Interpreter, name: str, node: ast.Call) -> t.Type:
    """Return the type that a call of a file's method returns."""
    if name in _LISTS:
        return core.add_listing_item(node, _LISTS[name])
    return _METHODS.get(name, t.ANY)


def report_not_a_value(core: Interpreter, node: ast.expr, file: FileType) -> t.Type:
    """Report that a program uses a file like a list or a dict."""
    if not core.catches("TypeError"):
        message = (
            f"{format_expression(node)} is a File (the response of {file.tool}), and no value. Read"
            f" it with {_READ}."
        )
        core.report("not-a-list", node, message, tool=file.tool)
    return t.ANY


_OF_ERROR = frozenset(dir(Exception)) | {"status", "body", "__notes__"}


def library_part(core: Interpreter, value: t.Library, node: ast.Attribute) -> t.Library:
    """Return the type of `value.attr`, where `value` is a module, as `json` is, or a `ToolError`.

    An attribute that `ToolError` does not have is reported.
    """
    known = value != t.TOOL_ERROR or node.attr in _OF_ERROR or core.catches("AttributeError")
    parts = (
        []
        if known
        else [part for part in walk_nodes(core.module) if isinstance(part, ast.Attribute)]
    )
    if not known and not any(
        part.attr == node.attr and isinstance(part.ctx, ast.Store) for part in parts
    ):
        existing = "status" if node.attr.endswith(("code", "status")) else "body"
        better = f"{format_expression(node.value)}.{existing}"
        message = (
            f"a ToolError has no attribute {node.attr!r}, only status and body. Write {better}."
        )
        core.report("no-attribute", node, message, better=better)
    return t.Library(f"{value.name}.{node.attr}")
