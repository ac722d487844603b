"""What a value is, in words and as JSON types."""

from __future__ import annotations

from atc.check.known.kinds import Array, Atom, Function, Iterating, Listing, Mapped, Null, Record, ToolRef, Tuple, Type
from atc.check.known.objects import Made


def json_types(value: Type) -> set[str] | None:
    """The JSON types that a value of this type may arrive as; None where nobody knows."""
    match value:
        case Atom("str"):
            return {"string"}
        case Atom("bool"):
            return {"boolean"}
        case Atom("int" | "float" | "number"):
            # A float may be whole, and so an integer to JSON.
            return {"integer", "number"}
        case Record() | Mapped():
            return {"object"}
        case Array() | Listing(kind="list") | Tuple():
            return {"array"}
        case Null():
            return {"null"}
        case Made("date" | "datetime" | "time" | "timedelta"):
            return set()
        case _:
            return None


_ATOMS = {"str": "a string", "bool": "a bool", "int": "an integer", "float": "a number", "number": "a number"}


def described(value: Type) -> str:
    """What a value is, in words."""
    match value:
        case Atom(name):
            return _ATOMS.get(name, name)
        case Record(origin=origin):
            return f"an object ({origin})"
        case Array(origin=origin):
            return f"a list ({origin})"
        case Mapped():
            return "a dict"
        case Listing(kind=kind) | Iterating(kind=kind) | Tuple(kind=kind):
            return f"a {kind}"
        case ToolRef() | Function():
            return "a function that was not called"
        case Made(name):
            return f"a {name}"
        case Null():
            return "None"
        case _:
            return "a value of another kind"
