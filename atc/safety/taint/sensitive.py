"""Search for the sensitive values of a call, however they are nested.

A sensitive argument decides who receives something (`recipient`), which address is opened or
contacted (`url`), what is executed (`command`) or how much is paid (`amount`). Its schema declares
this with the keyword `x-atc-sensitive`. Without it, the kind is guessed from names, formats and
values. A declaration always wins, even if it is `false`.

If the tool acts (it writes or sends something), two more kinds of values are sensitive: the unit of
an amount (`unit`), and texts in which a sensitive value could be hidden (`opaque`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from atc.core.json_paths import KEY
from atc.safety.taint.encodings import decode_numbers
from atc.safety.taint.framed import parse_unambiguous
from atc.safety.taint.guesses import Guesses, is_value_name
from atc.safety.taint.kinds import ArgumentKinds
from atc.safety.taint.leaves import Leaf, Mark, Position, TooMuchWork, WorkBudget
from atc.safety.taint.pairs import find_named_beside, find_named_fields, find_naming_arguments
from atc.safety.taint.pieces import find_pieces, join_pieces, read_whole_numbers
from atc.safety.taint.reading_queries import is_reading_query
from atc.safety.taint.text_search import TextSearch
from atc.safety.taint.units import is_unit
from atc.safety.taint.values import EqualityKey, equality_key
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, expand_combinations, iter_member_schemas

_LOG = logging.getLogger(__name__)
_MAX_DEPTH = 40
_MAX_BRANCHES = 200
_FIELD_PATH = re.compile(r"[\w/.$#\[\]-]*", re.ASCII)


def sensitive_leaves(
    protocol: ToolProtocol, arguments: JsonObject, *, is_told_by_user: bool
) -> list[Leaf]:
    """Return the sensitive values of a call (its leaves), each value of an argument once.

    `arguments` are keyed by their original names. `is_told_by_user` is True if the user says what
    the tool does. If only a document says that it reads, a query such as SQL is sensitive unless
    the query plainly reads. If a schema declares a value to be sensitive or
    not, this also applies to all values within it. A text that is not sensitive as a whole is
    searched for sensitive values. Some values are sensitive only if a schema declares this: a
    boolean, and a text without a number in a field that is named as an amount. `null` is never
    sensitive. Amounts and units are sensitive only if the tool acts. If an argument cannot be
    judged, for instance because it is too large or too deeply nested, the whole argument is one
    sensitive value of the kind `opaque`.
    """
    guess = Guesses(protocol, is_told_by_user=is_told_by_user)
    naming = find_naming_arguments(guess, arguments)
    if guess.acts and (joined := join_pieces(arguments)) is not None:
        arguments = {**arguments, " and ".join(arguments): joined}
    found = dict[tuple[str, str, EqualityKey], Leaf]()
    for name, value in arguments.items():
        try:
            leaves = [
                ((name, leaf.kind, equality_key(leaf.value)), leaf)
                for leaf in _ArgumentSearch(protocol, guess, name, value).find(arguments, naming)
            ]
        except Exception as error:  # noqa: BLE001 - a person decides what cannot be judged
            if not isinstance(error, TooMuchWork):
                _LOG.warning("argument %r cannot be judged: %s", name, type(error).__name__)
                _LOG.debug("argument %r cannot be judged", name, exc_info=error)
            leaf = Leaf(argument=name, path=(), value=value, kind="opaque")
            leaves = [((name, "opaque", ("json", name)), leaf)]
        for key, leaf in leaves:
            found.setdefault(key, leaf)
    has_amount = any(leaf.kind == "amount" for leaf in found.values())
    return [leaf for leaf in found.values() if has_amount or leaf.kind != "unit"]


class _ArgumentSearch:
    """Searches one argument of a call for sensitive values."""

    def __init__(self, protocol: ToolProtocol, guess: Guesses, name: str, value: Json) -> None:
        self._root = protocol.input_schema
        self._parameters = protocol.parameters
        self._guess = guess
        self._name = name
        self._value = value
        self._schema = self._parameters.get(name, self._root.get("additionalProperties", {}))
        self._kinds = ArgumentKinds(guess, self._schema, self._root, value)
        self._budget = WorkBudget()
        self._texts = TextSearch(guess, self._kinds, self._budget, self._walk)

    def find(self, arguments: JsonObject, naming: JsonObject) -> Iterator[Leaf]:
        """Yield the sensitive values in the argument.

        `arguments` are all arguments of the call. `naming` are those which may hold the name of a
        field while another argument holds its value: `field="amount", value="9000"`.
        """
        beside = frozenset(
            find_named_beside(self._guess, self._name, arguments, naming, self._parameters)
        )
        named = replace(find_named_fields(self._guess, self._value), beside=beside)
        is_loose = bool(beside) or self._name not in self._parameters
        position = Position(self._name, (), self._name, named=named, is_loose=is_loose)
        yield from self._walk(position, self._value, [self._schema], Mark())

    def _walk(
        self, position: Position, value: Json, schemas: Iterable[Json], above: Mark
    ) -> Iterator[Leaf]:
        """Yield the sensitive values in a value of the argument, at any depth.

        `schemas` are the schemas that may apply to the value. `above` is the mark (the sensitive
        kind) of the object or list around it.
        """
        self._budget.spend(1)
        if value is None:
            return
        if len(position.path) > _MAX_DEPTH:
            raise TooMuchWork
        here = expand_combinations(schemas, self._root, most=_MAX_BRANCHES)
        mark = self._kinds.mark(position, here, above)
        if isinstance(value, Mapping):
            yield from self._object(position, value, here, mark)
        elif isinstance(value, list):
            yield from self._list(position, value, here, mark)
        elif isinstance(value, str):
            yield from self._text(position, value, here, mark)
        else:
            yield from self._kinds.iter_leaf(position, value, mark, here)

    def _object(
        self, position: Position, value: JsonObject, here: list[JsonObject], mark: Mark
    ) -> Iterator[Leaf]:
        """Yield the sensitive values in an object: in its keys, values, and joined texts."""
        if mark.is_unknown:
            yield from self._find_in_joined_fields(position, value, mark)
        named = position.named
        has_named_field = position.path in named.around or position.path in named.labelled
        for key, inner in value.items():
            is_declared = any(key in branch.get("properties", {}) for branch in here)
            if not is_declared:
                yield from self._key(position, key, mark)
            may_be_named = has_named_field and not self._guess.is_prose(key)
            is_loose = not is_declared or may_be_named or is_value_name(key)
            below = position.below(key, key, is_loose=is_loose)
            yield from self._walk(below, inner, iter_member_schemas(here, key), mark)

    def _find_in_joined_fields(
        self, position: Position, value: JsonObject, mark: Mark
    ) -> Iterator[Leaf]:
        """Yield the sensitive values that appear only if the texts of an object are joined."""
        if value and all(key.isdecimal() for key in value):
            yield from self._find_in_bytes(position, value, value.values(), mark)
        if (joined := join_pieces(value)) is not None:
            for leaf in self._texts.find(position, joined, mark, is_joined=True):
                yield replace(leaf, value=joined)

    def _key(self, position: Position, key: str, mark: Mark) -> Iterator[Leaf]:
        """Yield the sensitive values in a key of an object that no schema declares.

        A key counts as an amount only if a schema declares the object as an amount.
        """
        is_guessed_amount = mark.kind == "amount" and not mark.declared
        on_key = Mark(inherited=True) if is_guessed_amount else mark
        yield from self._text(position.below(KEY, is_loose=False), key, [], on_key)
        if mark.kind == "amount" and self._guess.acts and is_unit(key):
            yield position.below(KEY).leaf(key, "unit")

    def _list(
        self, position: Position, value: list[Json], here: list[JsonObject], mark: Mark
    ) -> Iterator[Leaf]:
        """Yield the sensitive values in a list: in its items, and in its items joined to a text."""
        for index, inner in enumerate(value):
            below = position.below(index, is_loose=True)
            yield from self._walk(below, inner, iter_member_schemas(here, index), mark)
        if not mark.is_unknown:
            return
        texts = [inner for inner in value if isinstance(inner, str)]
        if len(texts) > 1:
            yield from self._texts.find(position, "".join(texts), mark, is_joined=True)
        for pieces in find_pieces(value):
            yield from self._texts.find(position, pieces, mark, is_joined=True)
        yield from self._find_in_bytes(position, value, value, mark)

    def _find_in_bytes(
        self, position: Position, whole: Json, numbers: Iterable[Json], mark: Mark
    ) -> Iterator[Leaf]:
        """Search the text that a list of bytes or code points forms for sensitive values.

        `numbers` are these bytes or code points. For each sensitive value that is found, yield a
        `Leaf` with its kind. The value of the `Leaf` is `whole`, the list or object that contains
        the numbers.
        """
        for text in decode_numbers(read_whole_numbers(numbers)):
            for leaf in self._texts.find(position, text, mark, is_joined=True):
                yield position.leaf(whole, leaf.kind)

    def _text(
        self, position: Position, text: str, here: list[JsonObject], mark: Mark
    ) -> Iterator[Leaf]:
        """Yield the text if it is sensitive as a whole, else the sensitive values that it contains.

        In a JSON text that all parsers read alike, each value is judged. Any other text is searched
        for fields and encodings.
        """
        if mark.kind == "command" and not mark.declared and self._is_reading_query(position, text):
            mark = Mark(inherited=True)
        if whole := list(self._kinds.iter_leaf(position, text, mark, here)):
            yield from whole
            if any(leaf.kind != "unit" for leaf in whole):
                return
        if position.path in position.named.places and _FIELD_PATH.fullmatch(text):
            return  # the name of a field, whose value is judged elsewhere
        position = replace(position, within=position.within or text)
        if (inner := parse_unambiguous(text)) is None:
            yield from self._texts.find(position, text, mark)
            return
        if not isinstance(inner, str):
            named = position.named.within(find_named_fields(self._guess, inner, position.path))
            position = replace(position, named=named, is_loose=True)
        schemas = [branch.get("contentSchema", {}) for branch in here]
        yield from self._walk(position, inner, schemas, mark)

    def _is_reading_query(self, position: Position, text: str) -> bool:
        """Return True if a text is the query of a tool that reads, and does so itself."""
        return self._guess.takes_query(position.name) and is_reading_query(text)
