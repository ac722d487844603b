"""A small service for tests: notes that can be added with a key, listed, and removed; and one that has a bug."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette

from toolflow_bench.services.operation import Arguments, Operation, Parameter, Refusal
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.state import State

TEXT = {"type": "string", "minLength": 1, "maxLength": 40}
NOTE = {
    "type": "object",
    "properties": {"note_id": {"type": "string"}, "text": {"type": "string"}, "stars": {"type": "integer"}},
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
        self.state = State()


def add(context: Context, arguments: Arguments) -> dict:
    if arguments["text"] in [note["text"] for note in context.state.all("notes")]:
        raise Refusal(409, "there is such a note already.")
    record = {"text": arguments["text"], "stars": arguments["stars"]}
    return dict(context.state.add("notes", record, id_field="note_id", prefix="no"))


def everything(context: Context, _arguments: Arguments) -> dict:
    return {"notes": context.state.all("notes")}


def remove(context: Context, arguments: Arguments) -> dict:
    return context.state.remove("notes", arguments["note_id"], otherwise="there is no note of this id.")


OPERATIONS = (
    Operation(
        id="add_note",
        path="/notes",
        method="POST",
        description="Add a note.",
        returns="Note",
        handler=add,
        parameters=(
            Parameter(name="text", schema=TEXT, description="What it says."),
            Parameter(
                name="stars", schema={"type": "integer", "minimum": 0, "default": 0}, description="N.", required=False
            ),
        ),
        conflict="There is such a note already.",
        takes_key=True,
    ),
    Operation(id="list_notes", path="/notes", description="All notes.", returns="Notes", handler=everything),
    Operation(
        id="remove_note",
        path="/notes/{note_id}",
        method="DELETE",
        description="Remove a note.",
        returns="Note",
        handler=remove,
        parameters=(Parameter(name="note_id", schema=TEXT, description="Its id."),),
        missing="There is no note of this id.",
        verified_by="list_notes",
    ),
)


def notes_app(close: Callable[[], None] = lambda: None) -> Starlette:
    info = {"title": "Notes", "version": "1"}
    return build_app(OPERATIONS, context=Context(), info=info, schemas=SCHEMAS, close=close)
