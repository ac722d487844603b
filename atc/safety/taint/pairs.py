"""Fields that a text names, as in `{"name": "amount", "value": 9000}`, and which other values may be theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from atc.core.json_paths import KEY, JsonPath, PathStep, walk
from atc.safety.taint.guesses import (
    NAMES,
    Guesses,
    Sensitivity,
    has_nonzero_digit,
    is_field_name,
    is_value_name,
    says_how_much,
    words_of,
)
from protocols.schema import Json, JsonObject, resolve, types

_SCALARS = frozenset({"string", "boolean", "number", "integer"})
_SMALL = 20
"""A number up to this is a count or a level, unless it stands where a value does."""
_SHORTEST_SERIES = 3
_REFERENCE = re.compile(r"[/#$@={<(]")
"""How a text begins that is no value but says where one is."""
_VARIABLE = re.compile(r"(?<![\w$])(?P<name>[^\W\d]\w{0,79})\s?:\s?\$\w")
"""A field whose value a variable of GraphQL gives."""


@dataclass(frozen=True, slots=True)
class NamedFields:
    """The sensitive fields that texts of an argument, or of the arguments beside it, name."""

    kinds: frozenset[Sensitivity] = frozenset()
    labels: frozenset[Sensitivity] = frozenset()
    """What labels of several words name: a list of numbers beside one is a chart."""
    around: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Objects and lists that hold the name of a field, with what it names: all else in them may be its value."""
    labelled: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Objects that hold a label of several words: what is named as a value may be its value."""
    places: frozenset[JsonPath] = frozenset()
    """Where the names and the labels stand."""
    paths_without_values: frozenset[JsonPath] = frozenset()
    """Lists that only name things, and objects that name another field: no value of these stands in them."""
    cells: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Cells of tables whose first row names the columns."""
    beside: frozenset[Sensitivity] = frozenset()
    """Kinds that other arguments name."""

    def guess_kind(
        self, path: JsonPath, name: str, value: Json, *, is_loose: bool
    ) -> Sensitivity | None:
        """Return the kind of a named field that the value at `path`, in a field `name`, may be the value of."""
        if path in self.places or path[-1:] == (KEY,) or _is_operation(name, value):
            return None
        if (column := self.cells.get(path)) is not None:
            return column if column != "amount" or _may_be_cell_of_amount(value) else None
        near = self.around.get(path[:-1]) if path else None
        if near is None and is_value_name(name) and path:
            near = self.labelled.get(path[:-1])
        if near is not None:
            return near if near != "amount" or _may_be_amount(name, value, near=True) else None
        kinds = self.beside
        if not path or path[:-1] not in self.paths_without_values:
            kinds |= self.kinds if path and isinstance(path[-1], int) else self.kinds | self.labels
        if not is_loose:
            return None
        if not kinds:
            return None
        if others := sorted(kinds - {"amount"}):
            return others[0]
        return "amount" if _may_be_amount(name, value, near=False) else None

    def within(self, inner: NamedFields) -> NamedFields:
        """Return what holds for JSON within a text: its own names, and those around it."""
        return replace(
            inner,
            kinds=inner.kinds | self.kinds,
            labels=inner.labels | self.labels,
            beside=self.beside,
        )


def find_named_fields(guess: Guesses, value: Json, at: JsonPath = ()) -> NamedFields:
    """Return the sensitive fields that texts within `value`, which stands at `at`, name."""
    if not guess.acts or not isinstance(value, Mapping | list):
        return NamedFields()
    around = dict[JsonPath, Sensitivity]()
    labelled = dict[JsonPath, Sensitivity]()
    kinds = set[Sensitivity]()
    labels = set[Sensitivity]()
    places = set[JsonPath]()
    flat = set[JsonPath]()
    own = set[JsonPath]()
    cells = dict[JsonPath, Sensitivity]()
    for path, inner in walk(value):
        where = (*at, *path)
        if isinstance(inner, list) and _is_flat(guess, path, inner):
            flat.add(where)
        if isinstance(inner, list) and (columns := _find_columns(guess, inner)):
            flat |= {(*where, row) for row in range(len(inner))}
            cells |= {
                (*where, row, column): kind
                for row in range(1, len(inner))
                for column, kind in columns.items()
            }
        if not isinstance(inner, str) or not path:
            continue
        if (kind := _named_by(guess, path[-1], inner)) is not None:
            around.setdefault(where[:-1], kind)
        elif (kind := guess.names(inner)) is not None:
            labelled.setdefault(where[:-1], kind)
        elif _names_another(path[-1], inner):
            own.add(where[:-1])
        if kind is not None:
            (kinds if where[:-1] in around else labels).add(kind)
            places.add(where)
    for path in flat:
        around.pop(path, None)
    apart = flat | (own - around.keys())
    return NamedFields(
        kinds=frozenset(kinds),
        labels=frozenset(labels),
        around=around,
        labelled=labelled,
        places=frozenset(places),
        paths_without_values=frozenset(apart | _find_series(value, at)),
        cells=cells,
    )


def _find_columns(guess: Guesses, rows: list[Json]) -> dict[int, Sensitivity]:
    """Return the sensitive columns of a table of texts, by number, where its first row names them.

    Two columns of which only the first is named may as well be a list of pairs: then an amount alone counts.
    """
    if len(rows) < 2 or not all(isinstance(row, list) and row for row in rows):
        return {}
    head = rows[0]
    assert isinstance(head, list)
    if not all(isinstance(cell, str) for cell in head):
        return {}
    named = ((column, guess.names(str(cell))) for column, cell in enumerate(head))
    columns = {column: kind for column, kind in named if kind is not None}
    if len(head) == 2 and [*columns] == [0]:
        return columns if columns[0] == "amount" and not has_nonzero_digit(str(head[1])) else {}
    return columns if len(head) > 1 else {}


def _find_series(value: Json, at: JsonPath) -> set[JsonPath]:
    """Return the lists of three numbers or more, in fields that do not say that they hold a value: points of a chart."""
    return {
        (*at, *path)
        for path, inner in walk(value)
        if isinstance(inner, list) and len(inner) >= _SHORTEST_SERIES and _is_series(path, inner)
    }


def _is_series(path: JsonPath, value: list[Json]) -> bool:
    name = path[-1] if path else None
    if not isinstance(name, str) or is_value_name(name):
        return False
    return all(isinstance(inner, int | float) for inner in value)


def find_naming_arguments(guess: Guesses, arguments: JsonObject) -> dict[str, Json]:
    """Return those arguments that may name a field of another one."""
    if not guess.acts:
        return {}
    given = arguments.items()
    return {
        name: value
        for name, value in given
        if isinstance(value, list | Mapping)
        or (isinstance(value, str) and (guess.names(value) is not None or "$" in value))
    }


def find_named_beside(
    guess: Guesses,
    name: str,
    arguments: JsonObject,
    others: JsonObject,
    parameters: Mapping[str, Json],
) -> set[Sensitivity]:
    """Return the sensitive fields that `others` name, if the argument `name` may hold the value of one of them."""
    kinds = set[Sensitivity | None]()
    is_open = isinstance(arguments[name], list | Mapping)
    for other, value in others.items():
        if other == name:
            continue
        if isinstance(value, str):
            kinds.add(_named_by(guess, other, value))
            if _may_belong(guess, name, other, parameters):
                kinds.add(guess.names(value))
            if is_open:
                kinds |= {guess.names(match["name"]) for match in _VARIABLE.finditer(value)}
        elif is_open or is_value_name(name):
            kinds |= set(_find_listed_fields(guess, other, value, arguments[name]))
    return {kind for kind in kinds if kind is not None}


def _find_listed_fields(
    guess: Guesses, name: str, value: Json, beside: Json
) -> Iterator[Sensitivity | None]:
    """Yield the fields that a list of names, or a table of stand-ins for names, names.

    A list counts as one of names by its own name, or if the argument `beside` it has rows with as many cells.
    """
    if isinstance(value, Mapping):
        yield from (
            _named_by(guess, name, inner) for inner in value.values() if isinstance(inner, str)
        )
    elif isinstance(value, list) and (is_field_name(name) or _has_rows_of(beside, len(value))):
        yield from (guess.names(inner) for inner in value if isinstance(inner, str))


def _has_rows_of(value: Json, width: int) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, list) and len(row) == width for row in value)


def _named_by(guess: Guesses, step: PathStep, text: str) -> Sensitivity | None:
    """Return what a text names by itself, whatever its field is, or because its field is for names."""
    is_for_names = isinstance(step, str) and is_field_name(step)
    if is_for_names and " " not in text.strip():
        return guess.names(text)
    if isinstance(step, str) and guess.is_prose(step):
        return None
    return guess.names_exactly(text)


def _names_another(step: PathStep, text: str) -> bool:
    return (
        isinstance(step, str) and is_field_name(step) and re.fullmatch(r"[\w.-]+", text) is not None
    )


def _is_flat(guess: Guesses, path: JsonPath, value: list[Json]) -> bool:
    """Return True for a list of texts that is no row of a name and its value, nor an operation on a field."""
    texts = [inner for inner in value if isinstance(inner, str)]
    if len(texts) < len(value) or not texts:
        return False
    is_row = bool(path) and isinstance(path[-1], int)
    if is_row and all(guess.names(text) is None for text in texts):
        return False  # a row of values
    is_pair = len(texts) == 2 and guess.names(texts[0]) is not None
    return not is_row or not (is_pair or texts[0].casefold() in NAMES["operations"])


def _may_belong(guess: Guesses, name: str, other: str, parameters: Mapping[str, Json]) -> bool:
    """Return True if the argument `name` may hold the value of a field that a label in the argument `other` names."""
    if is_field_name(other):
        return is_value_name(name) or not {*types(resolve(parameters.get(name), {}))} & _SCALARS
    return is_value_name(name) and not guess.is_prose(name)


def _is_operation(name: str, value: Json) -> bool:
    """Return True if the value is no value of a field: an operation, a type, an order, or a sentence."""
    words = words_of(name)
    if {*words[-1:]} & NAMES["aside"]:
        return True
    if not isinstance(value, str):
        return False
    is_sentence = (
        " " in value.strip() and bool({*words[-1:]} & NAMES["prose"]) and not is_value_name(name)
    )
    return is_sentence or not value.strip() or value.casefold() in NAMES["operations"]


def _may_be_cell_of_amount(value: Json) -> bool:
    return (
        says_how_much(value)
        if isinstance(value, str)
        else _may_be_amount("value", value, near=True)
    )


def _may_be_amount(name: str, value: Json, *, near: bool) -> bool:
    if isinstance(value, str):
        is_value = near and is_value_name(name)
        return is_value or has_nonzero_digit(value) or _REFERENCE.match(value) is not None
    is_small = isinstance(value, int) and abs(value) <= _SMALL
    return not is_small or is_value_name(name)
