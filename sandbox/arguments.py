"""What one tool takes and gives, checked by exact type: arguments before a call, the response after it."""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema_rs

from protocols.naming import argument_aliases, closest_meanings
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, all_types, dotted_path, resolve
from protocols.validate import BoundedValidator, Violation

KEPT = 1024  # so many contracts are kept for their next call

TYPE_WORDS = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "True or False",
    "array": "a list", "object": "a dict", "null": "None",
}  # fmt: skip
"""What programs call the types of JSON Schema."""

_SCALARS = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class BadArguments(Exception):
    """Arguments that the tool's protocol does not allow. The text names the argument by its alias."""


class Contract:
    """One protocol with its validators built. A schema that no validator can read refuses nothing."""

    def __init__(self, protocol: ToolProtocol) -> None:
        self.protocol = protocol
        root = protocol.input_schema
        self.arguments = argument_aliases(list(protocol.parameters))
        self.required = [
            alias for alias, name in self.arguments.items() if name in protocol.required
        ]
        self._needed = frozenset(self.required)
        schemas = {
            alias: resolve(protocol.parameters[name], root)
            for alias, name in self.arguments.items()
        }
        self.types = {alias: all_types(schema, root) for alias, schema in schemas.items()}
        self.defaults = {
            alias: schema["default"] for alias, schema in schemas.items() if "default" in schema
        }
        self.open = root.get("additionalProperties") is True or isinstance(
            root.get("additionalProperties"), Mapping
        )
        # Where the types of the arguments alone decide, no validator is asked: it costs more than the rest of a call.
        loose = root.keys() <= {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "title",
            "description",
        }
        self._by_type: dict[str, list[type]] | None = None
        if loose and root.get("type", "object") == "object":
            self._by_type = {
                alias: [kind for name in self.types[alias] for kind in _SCALARS.get(name, ())]
                for alias, schema in schemas.items()
                if schema.keys()
                <= {"type", "title", "description", "default", "examples", "format"}
            }
        self._aliases = {name: alias for alias, name in self.arguments.items()}
        # What a format means differs between services: of arguments they judge it themselves.
        self._input = _build_validator(root, formats=False)
        self._output = (
            None if protocol.output_schema is None else _build_validator(protocol.output_schema)
        )

    def accept(
        self, given: JsonObject, unsendable: Mapping[str, str] | None = None
    ) -> dict[str, Json]:
        """The arguments, by alias, that the call is made with. `unsendable` has the `repr` of those that are no JSON.

        `None` for an optional argument that has no null is the same as leaving it out, and 3.0 is the integer 3.

        Raises `BadArguments`: an argument is unknown, missing or of the wrong type, or breaks its schema.
        """
        if self._by_type is not None and not unsendable and self._needed <= given.keys():
            for alias, value in given.items():
                if type(value) not in self._by_type.get(alias, ()):
                    break
            else:
                return dict(given)
        for alias, text in (unsendable or {}).items():
            if alias not in self.arguments:
                raise BadArguments(self._unknown(alias))
            wanted = _describe_types(self.types[alias])
            raise BadArguments(f"argument {alias!r} must be {wanted}, got {shorten(text, 80)}")
        for alias in given:
            if alias not in self.arguments and (not self.open or alias in self._aliases):
                raise BadArguments(self._unknown(alias))
        accepted: dict[str, Json] = {}
        for alias, value in given.items():
            kinds = self.types.get(alias, ())
            if value is None and kinds and "null" not in kinds and alias not in self.required:
                continue
            whole = (
                type(value) is float
                and value.is_integer()
                and "integer" in kinds
                and "number" not in kinds
            )
            accepted[alias] = int(value) if whole else value
        for alias in self.required:
            if alias not in accepted:
                raise BadArguments(f"argument {alias!r} is missing")
        self._validate(accepted)
        return accepted

    def drift(self, response: Json) -> tuple[str, ...]:
        """The first clause of its schema that a live response breaks, and where; empty where it breaks none."""
        found = self._output.find_violation(response) if self._output is not None else None
        return (
            (f"{found.path or 'the response'}: {shorten(found.message, 160)}",)
            if found is not None
            else ()
        )

    def _validate(self, accepted: JsonObject) -> None:
        if self._input is None:
            return
        original = {self.arguments.get(alias, alias): value for alias, value in accepted.items()}
        try:
            if self._input.is_valid(original):
                return
        except ValueError as problem:
            message = f"the arguments cannot be compared with the tool's schema: {problem}; pass smaller ones"
            raise BadArguments(message) from None
        if (broken := self._input.find_violation(original)) is not None:
            raise BadArguments(self._problem(broken))

    def _problem(self, broken: Violation) -> str:
        error = broken.error
        path: list[str | int] = list(error.instance_path) if error is not None else []
        if error is None or not path:
            return shorten(broken.message, 200)
        alias = self._aliases.get(str(path[0]), str(path[0]))
        place = f"argument {dotted_path([alias, *path[1:]])!r}"
        got = shorten(repr(error.instance), 80)
        match error.kind:
            case jsonschema_rs.ValidationErrorKind.Type(types=wanted):
                kinds = (self.types.get(alias) if len(path) == 1 else ()) or tuple(wanted)
                return f"{place} must be {_describe_types(kinds)}, got {got}"
            case jsonschema_rs.ValidationErrorKind.Enum(options=options):
                return f"{place} must be one of {shorten(', '.join(map(repr, options)), 300)}, got {got}"
            case _ if broken.clause.endswith("anyOf") and len(path) == 1 and self.types[alias]:
                return f"{place} must be {_describe_types(self.types[alias])}, got {got}"
        return f"{place}: {shorten(broken.message, 200)}"

    def _unknown(self, alias: str) -> str:
        near = closest_meanings(alias, self.arguments)
        takes = (
            f"it takes {shorten(', '.join(self.arguments), 300)}"
            if self.arguments
            else "it takes none"
        )
        return f"no argument {shorten(repr(alias), 100)}; " + (
            f"did you mean {near[0]!r}?" if near else takes
        )


_contracts: dict[int, Contract] = {}


def contract(protocol: ToolProtocol) -> Contract:
    """The contract of `protocol`, built once for as long as it is in use."""
    found = _contracts.get(id(protocol))
    if found is None or found.protocol is not protocol:
        if len(_contracts) >= KEPT:
            _contracts.clear()
        found = _contracts[id(protocol)] = Contract(protocol)
    return found


def shorten(text: str, width: int) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _describe_types(kinds: tuple[str, ...]) -> str:
    return (
        " or ".join(TYPE_WORDS.get(kind, kind) for kind in sorted(kinds, key=lambda k: k == "null"))
        or "JSON"
    )


def _build_validator(schema: JsonObject, *, formats: bool = True) -> BoundedValidator | None:
    try:
        return BoundedValidator(schema, formats=formats)
    except ValueError:
        return None
