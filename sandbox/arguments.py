"""Validates the arguments of a tool call before it is made, and the response after it.

JSON types are compared exactly: for example, `"5"` is not an integer. Only for an argument that is
sent as text, such as one in the query, the number 5 and the text `"5"` are the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema_rs

from protocols.naming import argument_aliases, closest_meanings
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, all_types, dotted_path, resolve
from protocols.text_arguments import as_numbers, as_texts, is_sent_as_text
from protocols.validate import BoundedValidator, Violation

KEPT = 1024
"""Maximum number of contracts in the cache."""

TYPE_WORDS = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "True or False",
    "array": "a list", "object": "a dict", "null": "None",
}  # fmt: skip
"""Names of the JSON Schema types in error messages, as a Python programmer calls them."""

_TYPE_CLAUSES = frozenset({"type", "title", "description"})
_SCALARS = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class BadArguments(Exception):
    """Raised if the arguments of a call are not those that the tool's protocol allows.

    The message contains the alias of the argument, that is, its name in Python programs.
    """


class Contract:
    """Checks the arguments and the responses of one tool against the schemas in its protocol.

    A schema that is not valid itself allows everything.
    """

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
        self._by_type = _exact_types(root, schemas, self.types)
        self._aliases = {name: alias for alias, name in self.arguments.items()}
        self._texts = {name for name in self._aliases if is_sent_as_text(protocol, name)}
        # Services differ in what a format means, so they judge the formats of arguments themselves.
        self._input = _build_validator(root, formats=False)
        is_known = protocol.output_schema is not None and protocol.evidence.level != "guessed"
        self._output = _build_validator(protocol.output_schema or {}) if is_known else None

    def accept(
        self, given: JsonObject, unsendable: Mapping[str, str] | None = None
    ) -> dict[str, Json]:
        """Validate the arguments of a call, and return the arguments with which the tool is called.

        They are keyed by alias. An optional argument that is None but may not be null is left out.
        The float 3.0 becomes 3 if an integer is required. For an argument that is sent as text, 5
        becomes "5" if a string is required. A text of digits stays a text even if a number is
        required, because as a number it could lose digits.

        Args:
            given: the arguments, keyed by alias.
            unsendable: the `repr` of each argument whose value is not JSON, keyed by alias.

        Raises:
            BadArguments: an argument is unknown, missing, of the wrong type, or violates its
                schema.
        """
        if not unsendable and self._is_exact(given):
            return dict(given)
        for alias, text in (unsendable or {}).items():
            if alias not in self.arguments:
                raise BadArguments(self._unknown(alias))
            wanted = _describe_types(self.types[alias])
            raise BadArguments(f"argument {alias!r} must be {wanted}, got {shorten(text, 80)}")
        for alias in given:
            if alias not in self.arguments and (not self.open or alias in self._aliases):
                raise BadArguments(self._unknown(alias))
        accepted = {
            alias: _as_declared(value, self.types.get(alias, ()))
            for alias, value in given.items()
            if not self._is_left_out(alias, value)
        }
        for alias in self.required:
            if alias not in accepted:
                raise BadArguments(f"argument {alias!r} is missing")
        return self._validate(accepted)

    def _is_exact(self, given: JsonObject) -> bool:
        """Return True if the types of the arguments are enough to see that they are valid."""
        if self._by_type is None or not self._needed <= given.keys():
            return False
        by_type = self._by_type
        return all(type(value) in by_type.get(alias, ()) for alias, value in given.items())

    def _is_left_out(self, alias: str, value: Json) -> bool:
        """Return True if an argument is not sent, because its value is None, which is not allowed.

        The argument must be optional.
        """
        kinds = self.types.get(alias, ())
        return value is None and bool(kinds) and "null" not in kinds and alias not in self.required

    def drift(self, response: Json) -> tuple[str, ...]:
        """Return a message about the first rule of the output schema that a response violates.

        The result is a tuple with this message, or an empty tuple if the response is valid.
        """
        found = self._output.find_violation(response) if self._output is not None else None
        return (
            (f"{found.path or 'the response'}: {shorten(found.message, 160)}",)
            if found is not None
            else ()
        )

    def _validate(self, accepted: dict[str, Json]) -> dict[str, Json]:
        """Return the arguments if they conform to the input schema, with numbers sent as text.

        Raises:
            BadArguments: the arguments do not conform, whichever way their texts are read.
        """
        if self._input is None:
            return accepted
        read = {self.arguments.get(alias, alias): value for alias, value in accepted.items()}
        sent = dict(accepted)
        broken = self._find_violation(self._input, read)
        unread = set(self._texts)
        while broken is not None and (name := _argument_of(broken)) in unread:
            unread.remove(name)
            alias = self._aliases[name]
            numbers = as_numbers(read[name])
            texts = as_texts(read[name])
            for reading, value in ((numbers, read[name]), (texts, texts)):
                then = self._find_violation(self._input, {**read, name: reading})
                if then is None or _argument_of(then) != name:
                    read[name] = reading
                    sent[alias] = value
                    broken = then
                    break
                if then.error is not None and then.error.kind.name != "type":
                    broken = then  # says more than that the text is no number
        if broken is not None:
            raise BadArguments(self._problem(broken))
        return sent

    def _find_violation(self, checks: BoundedValidator, original: JsonObject) -> Violation | None:
        """Return the first rule of the input schema that arguments violate, or None.

        `original` are the arguments, keyed by original name.

        Raises:
            BadArguments: the arguments cannot be validated.
        """
        try:
            if checks.is_valid(original):
                return None
        except ValueError as problem:
            raise BadArguments(
                f"the arguments cannot be compared with the tool's schema: {problem}; "
                "pass smaller ones"
            ) from None
        return checks.find_violation(original)

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
                listed = shorten(", ".join(map(repr, options)), 300)
                return f"{place} must be one of {listed}, got {got}"
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
    """Return the `Contract` that checks the calls of a tool, from a cache if possible."""
    found = _contracts.get(id(protocol))
    if found is None or found.protocol is not protocol:
        if len(_contracts) >= KEPT:
            _contracts.clear()
        found = _contracts[id(protocol)] = Contract(protocol)
    return found


def shorten(text: str, width: int) -> str:
    """Return a text cut to at most `width` characters, with an ellipsis if it was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _exact_types(
    root: JsonObject,
    schemas: Mapping[str, JsonObject],
    types: Mapping[str, tuple[str, ...]],
) -> dict[str, list[type]] | None:
    """Return the Python types of each argument for which a check of the type is enough.

    The schema of such an argument states nothing but a type. A call needs no validator if all its
    arguments are in the result and have one of these types. This saves time, because a validator
    takes longer than the rest of a call. Return None if the schema has rules for several arguments
    together.

    Args:
        root: the input schema.
        schemas: the schema of each argument, keyed by alias.
        types: the JSON types that each argument allows, keyed by alias.
    """
    if not root.keys() <= _TYPE_CLAUSES | {"properties", "required", "additionalProperties"}:
        return None
    if root.get("type", "object") != "object":
        return None
    exact: dict[str, list[type]] = {}
    for alias, schema in schemas.items():
        if schema.keys() <= _TYPE_CLAUSES | {"default", "examples", "format"}:
            exact[alias] = [kind for name in types[alias] for kind in _SCALARS.get(name, ())]
    return exact


def _as_declared(value: Json, kinds: tuple[str, ...]) -> Json:
    """Return the integer 3 for the float 3.0 if the argument may only be an integer.

    Any other value is returned unchanged. `kinds` are the JSON types that the argument allows.
    """
    takes_integer = "integer" in kinds and "number" not in kinds
    if takes_integer and type(value) is float and value.is_integer():
        return int(value)
    return value


def _argument_of(broken: Violation) -> str | None:
    """Return the original name of the argument that violates a rule, or None for no single one."""
    path = list(broken.error.instance_path) if broken.error is not None else []
    return str(path[0]) if path else None


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
