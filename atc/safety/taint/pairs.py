"""Search for fields whose name is itself a value, as in `{"name": "amount", "value": 9000}`."""

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
"""A number up to this is a count or a level, unless its field has a name such as `value`."""
_SHORTEST_SERIES = 3
_REFERENCE = re.compile(r"[/#$@={<(]")
"""The beginning of a text that refers to a value that is elsewhere, such as `$total`."""
_VARIABLE = re.compile(r"(?<![\w$])(?P<name>[^\W\d]\w{0,79})\s?:\s?\$\w")
"""A field whose value is a GraphQL variable."""


@dataclass(frozen=True, slots=True)
class NamedFields:
    """The sensitive fields that texts in a call name, and where their values may be.

    In `{"field": "amount", "value": 5}`, the text "amount" names a field, whose value is 5. The
    name and the value may be in the same argument or in two.
    """

    kinds: frozenset[Sensitivity] = frozenset()
    """Kinds of the fields that are named by a short name, such as `amount`."""
    labels: frozenset[Sensitivity] = frozenset()
    """Kinds of the fields that are named by a label, such as `Total amount due`. A list of numbers
    next to a label is a chart, and contains no value of the field.
    """
    around: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Paths of the objects and lists that contain a short name, with the kind of the named field.
    Everything else in such an object or list may be the field's value.
    """
    labelled: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Paths of the objects that contain a label, with the kind of the named field. Only a member
    with a name such as `value` may be the field's value.
    """
    places: frozenset[JsonPath] = frozenset()
    """Paths of the names and labels themselves."""
    paths_without_values: frozenset[JsonPath] = frozenset()
    """Paths of the lists and objects that contain no value of a sensitive field: lists of names,
    charts, and objects that name a field which is not sensitive.
    """
    cells: Mapping[JsonPath, Sensitivity] = field(default_factory=dict)
    """Paths of the cells of tables, with the kind that the first row gives to their column."""
    beside: frozenset[Sensitivity] = frozenset()
    """Kinds of the fields that are named in other arguments of the call."""

    def guess_kind(
        self, path: JsonPath, name: str, value: Json, *, is_loose: bool
    ) -> Sensitivity | None:
        """Guess the sensitive kind of a value, if it may be the value of one of the named fields.

        `path` is the path of the value, and `name` the name of the JSON field that contains it.
        `is_loose` is True if no schema describes the value. Return None if the value is not
        sensitive.
        """
        if path in self.places or path[-1:] == (KEY,) or _is_operation(name, value):
            return None
        if (column := self.cells.get(path)) is not None:
            return column if column != "amount" or _may_be_cell_of_amount(value) else None
        near = self._kind_of_neighbour(path, name)
        if near is not None:
            return near if near != "amount" or _may_be_amount(name, value, near=True) else None
        kinds = self._kinds_for(path) if is_loose else frozenset()
        if others := sorted(kinds - {"amount"}):
            return None if _is_number_of_record(name, value) else others[0]
        return "amount" if kinds and _may_be_amount(name, value, near=False) else None

    def _kind_of_neighbour(self, path: JsonPath, name: str) -> Sensitivity | None:
        """Return the kind of the field that another text in the same object or list names, or None.

        `path` and `name` are those of the value which may be the field's value.
        """
        if not path:
            return None
        kind = self.around.get(path[:-1])
        return self.labelled.get(path[:-1]) if kind is None and is_value_name(name) else kind

    def _kinds_for(self, path: JsonPath) -> frozenset[Sensitivity]:
        """Return the kinds of all named fields whose value may be at `path`."""
        if path and path[:-1] in self.paths_without_values:
            return self.beside
        if path and isinstance(path[-1], int):
            return self.beside | self.kinds
        return self.beside | self.kinds | self.labels

    def within(self, inner: NamedFields) -> NamedFields:
        """Return the named fields for the values in a JSON text that an argument contains.

        `inner` are the fields that are named in this JSON text. The fields that are named outside
        it, in this object, are added.
        """
        return replace(
            inner,
            kinds=inner.kinds | self.kinds,
            labels=inner.labels | self.labels,
            beside=self.beside,
        )


def _is_number_of_record(name: str, value: Json) -> bool:
    """Return True for a number, or a text of digits, in a field for the id of a record.

    Such a field, as `customer_id`, stands beside a named field to say whose field it is.
    """
    return words_of(name)[-1:] in (("id",), ("ids",)) and str(value).isdecimal()


def find_named_fields(guess: Guesses, value: Json, at: JsonPath = ()) -> NamedFields:
    """Return the sensitive fields that texts within `value` name.

    `at` is the path of `value` in the argument.
    """
    if not guess.acts or not isinstance(value, Mapping | list):
        return NamedFields()
    search = _NameSearch(guess)
    for path, inner in walk(value):
        where = (*at, *path)
        if isinstance(inner, list):
            search.add_list(path, where, inner)
        elif isinstance(inner, str) and path:
            search.add_text(path[-1], where, inner)
    return search.result(_find_series(value, at))


class _NameSearch:
    """Collects the names of sensitive fields that occur as texts in one value."""

    def __init__(self, guess: Guesses) -> None:
        self._guess = guess
        self._around = dict[JsonPath, Sensitivity]()
        self._labelled = dict[JsonPath, Sensitivity]()
        self._kinds = set[Sensitivity]()
        self._labels = set[Sensitivity]()
        self._places = set[JsonPath]()
        self._lists_of_names = set[JsonPath]()
        self._names_of_others = set[JsonPath]()
        self._cells = dict[JsonPath, Sensitivity]()

    def add_list(self, path: JsonPath, where: JsonPath, items: list[Json]) -> None:
        """Add a list of the searched value if it is a list of field names or a table.

        `path` is its path in the searched value, `where` its path in the argument.
        """
        if _is_flat(self._guess, path, items):
            self._lists_of_names.add(where)
        columns = _find_columns(self._guess, items)
        for row in range(len(items) if columns else 0):
            self._lists_of_names.add((*where, row))
            if row > 0:
                self._cells |= {(*where, row, column): kind for column, kind in columns.items()}

    def add_text(self, step: PathStep, where: JsonPath, text: str) -> None:
        """Add a text of the searched value if it names a sensitive field.

        `step` is the key or index of the text, `where` its path in the argument.
        """
        owner = where[:-1]
        if (kind := _named_by(self._guess, step, text)) is not None:
            self._around.setdefault(owner, kind)
        elif (kind := self._guess.named_kind(text)) is not None:
            self._labelled.setdefault(owner, kind)
        elif _names_another(step, text):
            self._names_of_others.add(owner)
        if kind is not None:
            (self._kinds if owner in self._around else self._labels).add(kind)
            self._places.add(where)

    def result(self, series: set[JsonPath]) -> NamedFields:
        """Return the sensitive fields whose names were found in the searched value.

        `series` are the paths of lists that are the points of a chart, so not values of the fields.
        """
        for path in self._lists_of_names:
            self._around.pop(path, None)
        of_others = self._names_of_others - self._around.keys()
        return NamedFields(
            kinds=frozenset(self._kinds),
            labels=frozenset(self._labels),
            around=self._around,
            labelled=self._labelled,
            places=frozenset(self._places),
            paths_without_values=frozenset(self._lists_of_names | of_others | series),
            cells=self._cells,
        )


def _find_columns(guess: Guesses, rows: list[Json]) -> dict[int, Sensitivity]:
    """Return the sensitive kinds of the columns in a table, keyed by column number.

    `rows` is a table if it is a list of lists whose first row contains only texts, the names of the
    columns. Columns that are not sensitive are left out.

    Two columns of which only the first has a sensitive name, such as `[["to", "bob"], …]`, are
    ambiguous: each row may be a name and its value. They are a table only if the first name is that
    of an amount and the second contains no number. Otherwise the result is empty.
    """
    if len(rows) < 2 or not all(isinstance(row, list) and row for row in rows):
        return {}
    head = rows[0]
    assert isinstance(head, list)
    names = [cell for cell in head if isinstance(cell, str)]
    if len(head) < 2 or len(names) < len(head):
        return {}
    kinds = map(guess.named_kind, names)
    columns = {column: kind for column, kind in enumerate(kinds) if kind is not None}
    if len(head) > 2 or [*columns] != [0]:
        return columns
    return columns if columns[0] == "amount" and not has_nonzero_digit(names[1]) else {}


def _find_series(value: Json, at: JsonPath) -> set[JsonPath]:
    """Return the paths of the lists within `value` that are the points of a chart.

    Such a list has three or more numbers, and is not in a field with a name such as `value`. `at`
    is the path of `value` in the argument.
    """
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
    """Return the arguments of a call that may name a field whose value is another argument."""
    if not guess.acts:
        return {}
    return {
        name: value
        for name, value in arguments.items()
        if isinstance(value, list | Mapping)
        or (isinstance(value, str) and (guess.named_kind(value) is not None or "$" in value))
    }


def find_named_beside(
    guess: Guesses,
    name: str,
    arguments: JsonObject,
    others: JsonObject,
    parameters: Mapping[str, Json],
) -> set[Sensitivity]:
    """Return the sensitive kinds of the fields whose value the argument `name` may be.

    Only fields that another argument names are considered, as in `field="amount", value=5`.
    `others` are the arguments that may name fields, `arguments` all arguments of the call.
    `parameters` are the schemas of the arguments.
    """
    kinds = set[Sensitivity | None]()
    is_open = isinstance(arguments[name], list | Mapping)
    for other, value in others.items():
        if other == name:
            continue
        if isinstance(value, str):
            kinds.add(_named_by(guess, other, value))
            if _may_belong(guess, name, other, parameters):
                kinds.add(guess.named_kind(value))
            if is_open:
                kinds |= {guess.named_kind(match["name"]) for match in _VARIABLE.finditer(value)}
        elif is_open or is_value_name(name):
            kinds |= set(_find_listed_fields(guess, other, value, arguments[name]))
    return {kind for kind in kinds if kind is not None}


def _find_listed_fields(
    guess: Guesses, name: str, value: Json, beside: Json
) -> Iterator[Sensitivity | None]:
    """Yield the sensitive kinds of the fields that an object or a list of names lists.

    `value` is this object or list, and `name` the argument that has it. A list counts only if the
    argument is named `columns` or similar, or if another argument's value, `beside`, is a table
    with as many columns as the list has items.
    """
    if isinstance(value, Mapping):
        yield from (
            _named_by(guess, name, inner) for inner in value.values() if isinstance(inner, str)
        )
    elif isinstance(value, list) and (is_field_name(name) or _has_rows_of(beside, len(value))):
        yield from (guess.named_kind(inner) for inner in value if isinstance(inner, str))


def _has_rows_of(value: Json, width: int) -> bool:
    """Return True if the value is a list of rows with `width` cells each."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, list) and len(row) == width for row in value)


def _named_by(guess: Guesses, step: PathStep, text: str) -> Sensitivity | None:
    """Return the sensitive kind of the field that a text names, or None.

    The text must clearly be a name (`amount`), or it must be in a field for names, such as
    `column`. `step` is the key or index of the text.
    """
    is_for_names = isinstance(step, str) and is_field_name(step)
    if is_for_names and " " not in text.strip():
        return guess.named_kind(text)
    if isinstance(step, str) and guess.is_prose(step):
        return None
    return guess.exactly_named_kind(text)


def _names_another(step: PathStep, text: str) -> bool:
    """Return True if a text is only the name of another field, sensitive or not.

    That is so if its own key, `step`, is one that holds names of fields, such as `column`.
    """
    return (
        isinstance(step, str) and is_field_name(step) and re.fullmatch(r"[\w.-]+", text) is not None
    )


def _is_flat(guess: Guesses, path: JsonPath, value: list[Json]) -> bool:
    """Return True if a list contains only names of fields, and none of the fields' values."""
    texts = [inner for inner in value if isinstance(inner, str)]
    if len(texts) < len(value) or not texts:
        return False
    is_row = bool(path) and isinstance(path[-1], int)
    if is_row and all(guess.named_kind(text) is None for text in texts):
        return False  # a row of values
    is_pair = len(texts) == 2 and guess.named_kind(texts[0]) is not None
    return not is_row or not (is_pair or texts[0].casefold() in NAMES["operations"])


def _may_belong(guess: Guesses, name: str, other: str, parameters: Mapping[str, Json]) -> bool:
    """Return True if the argument `name` may be the value of a field named by another argument.

    The name of that field is in the argument `other`.
    """
    if is_field_name(other):
        return is_value_name(name) or not {*types(resolve(parameters.get(name), {}))} & _SCALARS
    return is_value_name(name) and not guess.is_prose(name)


def _is_operation(name: str, value: Json) -> bool:
    """Return True if a value next to a field's name cannot be the value of that field.

    It is an operation (such as `set`), a type, a sort order or a sentence. `name` is the key of the
    value.
    """
    words = words_of(name)
    if {*words[-1:]} & NAMES["properties"]:
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
    """Return True if a value in the field `name` can be an amount.

    `near` is True if the text that names the amount is in the same object or list. Then even a text
    without digits counts if its field has a name such as `value`.
    """
    if isinstance(value, str):
        is_value = near and is_value_name(name)
        return is_value or has_nonzero_digit(value) or _REFERENCE.match(value) is not None
    is_small = isinstance(value, int) and abs(value) <= _SMALL
    return not is_small or is_value_name(name)
