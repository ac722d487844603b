"""A small service for tests: notes that can be added with a key, listed, and removed; and one that has a bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette

from toolflow_bench.services.openapi import operation_of
from toolflow_bench.services.operation import Arguments, Operation, Refusal
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.state import ServiceState

TEXT = {"type": "string", "minLength": 1, "maxLength": 40}
NOTE = {
    "type": "object",
    "properties": {
        "note_id": {"type": "string"},
        "text": {"type": "string"},
        "stars": {"type": "integer"},
    },
    "required": ["note_id", "text", "stars"],
    "additionalProperties": False,
}
SCHEMAS = {
    "Note": NOTE,
    "Notes": {
        "type": "object",
        "properties": {"notes": {"type": "array", "items": {"$ref": "#/components/schemas/Note"}}},
        "required": ["notes"],
        "additionalProperties": False,
    },
}


class Context:
    def __init__(self) -> None:
        self.state = ServiceState()


def add(context: Context, arguments: Arguments) -> dict:
    if arguments["text"] in [note["text"] for note in context.state.all("notes")]:
        raise Refusal(409, "there is such a note already.")
    record = {"text": arguments["text"], "stars": arguments["stars"]}
    return dict(context.state.add("notes", record, id_field="note_id", prefix="no"))


def everything(context: Context, _arguments: Arguments) -> dict:
    return {"notes": context.state.all("notes")}


def remove(context: Context, arguments: Arguments) -> dict:
    return context.state.remove(
        "notes", arguments["note_id"], otherwise="there is no note of this id."
    )


def operation(
    name: str,
    method: str,
    path: str,
    returns: str,
    handler: Any,
    verified_by: str = "",
    *,
    takes_key: bool = False,
    **schemas: Any,
) -> Operation:
    """One with these arguments; one that has a default may be left out."""
    status, schema = 201 if method == "POST" else 200, {"$ref": f"#/components/schemas/{returns}"}
    responses = {status: {"content": {"application/json": {"schema": schema}}}}
    missing = {404: {"description": "There is no note of this id."}} if "{" in path else {}
    entry = {
        "operationId": name,
        "description": f"{name} does it.",
        "responses": responses | missing,
        "x-takes-key": takes_key,
    }
    if verified_by:
        entry["x-atc-verified-by"] = verified_by
    in_body = (
        {}
        if method in ("GET", "DELETE")
        else {n: s for n, s in schemas.items() if "{" + n + "}" not in path}
    )
    if in_body:
        needed = [n for n, s in in_body.items() if "default" not in s]
        described = {n: {**s, "description": "It."} for n, s in in_body.items()}
        body = {"type": "object", "properties": described, "required": needed}
        entry["requestBody"] = {"content": {"application/json": {"schema": body}}}
    entry["parameters"] = [
        {
            "name": n,
            "in": "path" if "{" + n + "}" in path else "query",
            "required": "default" not in s,
            "schema": s,
            "description": "It.",
        }
        for n, s in schemas.items()
        if n not in in_body
    ]
    return operation_of(path, method.lower(), entry, handler)


STARS = {"type": "integer", "minimum": 0, "maximum": 9, "default": 0}
OPERATIONS = (
    operation("add_note", "POST", "/notes", "Note", add, takes_key=True, text=TEXT, stars=STARS),
    operation("list_notes", "GET", "/notes", "Notes", everything),
    operation(
        "remove_note", "DELETE", "/notes/{note_id}", "Note", remove, "list_notes", note_id=TEXT
    ),
)


def notes_app(close: Callable[[], None] = lambda: None) -> Starlette:
    info = {"title": "Notes", "version": "1"}
    return build_app(OPERATIONS, context=Context(), info=info, schemas=SCHEMAS, close=close)
