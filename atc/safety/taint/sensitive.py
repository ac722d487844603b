"""The values of a call that must be clean: every leaf of every sensitive argument, however it is nested.

A sensitive argument decides whom something goes to (`recipient`), which address is opened or told (`url`), what is
executed (`command`) or how much is paid (`amount`). Its schema says so with `x-atc-sensitive`; else names, formats and
looks are gone by. A declared mark always wins, `false` included.

Of a tool that acts two more kinds of values must be clean: what an amount is an amount of (`unit`), and texts in which
nobody can read whether they hold a sensitive value (`opaque`).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from atc.core.json_paths import KEY, JsonPath, PathStep, format_json_path
from atc.safety.taint.encodings import decode_numbers, find_decodings
from atc.safety.taint.framed import find_parts, parse_unambiguous, value_at
from atc.safety.taint.guarantees import Guarantees
from atc.safety.taint.guesses import (
    Guesses,
    Sensitivity,
    has_nonzero_digit,
    is_unit,
    is_unit_field,
    is_unit_flag,
    is_value_name,
    may_be_part_of_amount,
    says_how_much,
)
from atc.safety.taint.notations import Field, fields, find_assignments, is_natural
from atc.safety.taint.opaque import is_opaque
from atc.safety.taint.pairs import (
    NamedFields,
    find_named_beside,
    find_named_fields,
    find_naming_arguments,
)
from atc.safety.taint.pieces import find_pieces, join_pieces, read_whole_numbers
from atc.safety.taint.values import EqualityKey, equality_key, number
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, expand_combinations, iter_member_schemas

SensitiveKind = Sensitivity | Literal["unit", "opaque"]

SENSITIVE = "x-atc-sensitive"
"""The keyword of an argument's schema."""

_MAX_DEPTH = 40
_LONGEST_READ = 200  # characters behind a name in which an amount begins
_MAX_BRANCHES = 200
_MOMENTS = frozenset({"date", "date-time", "time", "duration"})
_MOMENT = re.compile(
    r"[+-]?P(?=.)(?:\d+[.,]?\d*[YMWD])*(?:T(?:\d+[.,]?\d*[HMS])+)?"
    r"|\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.Zz+-]*)?|\d\d:\d\d[\d:.Zz+-]*",
    re.ASCII,
)
_WORDS = re.compile(
    r"(?:[A-Z]?[a-z]{0,30}\d{0,6}|\d{1,9})(?:[ _.-][A-Z]?[a-z]{1,30}){0,40}(?:[ _.-]\d{1,9}){0,2}|[\w-]{0,5}",
    re.ASCII,
)
"""What no notation has a field in, and what no encoding looks like."""
_SPACED = re.compile(r"[a-z_-]+ \d+")
"""A setting without a sign between name and value."""
_LONGEST_BACKWARDS = 400
_MOST_WORK = 10_000  # what one argument may cost, in values that are plain words: about a second
_CHARACTERS = 40  # characters of other texts that cost as much, in each of their forms
_WAY = re.compile(r"[\w/.$#\[\]-]*", re.ASCII)
_OWN_WAY = re.compile(r"/(?:[\w-][\w./-]*)?", re.ASCII)
_ENTITY = re.compile(r"&[A-Za-z]{2,12};")
"""A sign of markup, such as a currency's; letters of names are never written so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value of a sensitive argument, by the argument's original name and the steps that lead to it there.

    A name of a field that no schema knows is such a value too, since the program chose it: its last step is `KEY`.
    """

    argument: str
    path: JsonPath
    value: Json
    kind: SensitiveKind
    within: str | None = None
    """The text of the argument that holds the value, where it is a part of one."""

    @property
    def place(self) -> str:
        """The argument and the place in it: `message.to[0]`."""
        named = self.path[:-1] if self.path[-1:] == (KEY,) else self.path
        return format_json_path((self.argument, *named)) + (
            " (a key)" if named != self.path else ""
        )


def sensitive_leaves(protocol: ToolProtocol, arguments: JsonObject) -> Iterable[Leaf]:
    """Return the leaves that must be clean, each value of an argument once; `arguments` by original name.

    A mark holds for all that is beneath it; a text is looked into where it is no leaf itself. `null` is never a leaf. A
    truth value is one, and a text that says no number beneath another name's mark is an amount, beneath a declared mark
    alone. Amounts count on tools that do something. An argument that cannot be judged is an opaque leaf as a whole.
    """
    search = _Search(protocol)
    found = dict[tuple[str, str, EqualityKey], Leaf]()
    others = find_naming_arguments(search.guess, arguments)
    if search.guess.acts and (joined := join_pieces(arguments)) is not None:
        arguments = {**arguments, " and ".join(arguments): joined}
    for name, value in arguments.items():
        try:
            held = [
                ((name, leaf.kind, equality_key(leaf.value)), leaf)
                for leaf in search.of_argument(name, arguments, others)
            ]
        except Exception:  # noqa: BLE001 - also `_TooMuchWork`: what cannot be judged is judged to need a person
            leaf = Leaf(argument=name, path=(), value=value, kind="opaque")
            held = [((name, "opaque", ("json", name)), leaf)]
        for key, leaf in held:
            found.setdefault(key, leaf)
    has_amount = any(leaf.kind == "amount" for leaf in found.values())
    return [leaf for leaf in found.values() if has_amount or leaf.kind != "unit"]


@dataclass(frozen=True, slots=True)
class _ValuePlace:
    """The place of a value in an argument.

    `name` is the nearest name: that of the field, or of the list that holds the value.
    """

    argument: str
    path: JsonPath
    name: str
    within: str | None = None
    named: NamedFields = field(default_factory=NamedFields)
    is_loose: bool = False
    """Whether no schema says what stands there, so that it may be the value of any field that a text names."""

    def below(
        self, step: PathStep, name: str | None = None, *, is_loose: bool | None = None
    ) -> _ValuePlace:
        loose = self.is_loose if is_loose is None else is_loose
        return replace(self, path=(*self.path, step), name=name or self.name, is_loose=loose)

    def leaf(self, value: Json, kind: SensitiveKind) -> Leaf:
        return Leaf(
            argument=self.argument, path=self.path, value=value, kind=kind, within=self.within
        )


@dataclass(frozen=True, slots=True)
class _Mark:
    """The kind of the values at a place.

    `declared`: a schema says so, with no kind for `false`, under which nothing is guessed.

    `inherited`: the name of something around it was what the guess went by.
    """

    kind: Sensitivity | None = None
    declared: bool = False
    inherited: bool = False


def _decode_entity(entity: re.Match[str]) -> str:
    sign = html.unescape(entity[0])
    return entity[0] if sign.isascii() else sign


def _field_key(one: Field, is_prose: bool) -> tuple[str, str]:
    """Return what tells a field from others: within a sentence the same name may stand before anything."""
    return one.name, "" if is_prose else one.behind


class _TooMuchWork(Exception):
    """An argument is too large to be judged value by value."""


class _Search:
    """Looks for the sensitive values of one call."""

    def __init__(self, protocol: ToolProtocol) -> None:
        self._root = protocol.input_schema
        self._parameters = protocol.parameters
        self.guess = Guesses(protocol)
        self._guaranteed = Guarantees({}, self._root, None)
        self._left = 0

    def of_argument(self, name: str, arguments: JsonObject, others: JsonObject) -> Iterator[Leaf]:
        """Yield the leaves of one of the arguments of a call; `others` may name it."""
        value = arguments[name]
        schema = self._parameters.get(name, self._root.get("additionalProperties", {}))
        self._guaranteed = Guarantees(schema, self._root, value)
        self._left = _MOST_WORK
        place = _ValuePlace(name, (), name)
        beside = frozenset(find_named_beside(self.guess, name, arguments, others, self._parameters))
        named = replace(find_named_fields(self.guess, value), beside=beside)
        place = replace(place, named=named, is_loose=bool(beside) or name not in self._parameters)
        yield from self.walk(place, value, [schema], _Mark())

    def _spend(self, work: int) -> None:
        """Count what was done for the argument.

        Raises:
            _TooMuchWork: it was enough.
        """
        self._left -= work
        if self._left < 0:
            raise _TooMuchWork

    def walk(
        self, place: _ValuePlace, value: Json, schemas: Iterable[Json], above: _Mark
    ) -> Iterator[Leaf]:
        """Yield the leaves in a value that may have one of these schemas."""
        self._spend(1)
        if value is None:
            return
        if (
            len(place.path) > _MAX_DEPTH
        ):  # no argument that anybody declared: it is looked at as a whole
            yield from self._leaf(
                place, json.dumps(value), replace(above, kind=above.kind or "command"), []
            )
            return
        here = expand_combinations(schemas, self._root, most=_MAX_BRANCHES)
        mark = self._mark(place, here, above)
        if isinstance(value, Mapping):
            yield from self._object(place, value, here, mark)
        elif isinstance(value, list):
            yield from self._list(place, value, here, mark)
        elif isinstance(value, str):
            yield from self._text(place, value, here, mark)
        else:
            yield from self._leaf(place, value, mark, here)

    def _object(
        self, place: _ValuePlace, value: JsonObject, here: list[JsonObject], mark: _Mark
    ) -> Iterator[Leaf]:
        if mark.kind is None and not mark.declared:
            if value and all(key.isdecimal() for key in value):
                yield from self._find_in_bytes(place, value, value.values(), mark)
            if (joined := join_pieces(value)) is not None:
                found = self._find_framed(place, joined, mark, is_joined=True)
                yield from (replace(leaf, value=joined) for leaf in found)
        has_pair = place.path in place.named.around or place.path in place.named.labelled
        for key, inner in value.items():
            is_known = any(key in branch.get("properties", {}) for branch in here)
            if not is_known:
                # A key is no amount, but for a declared mark.
                on_key = (
                    _Mark(inherited=True) if mark.kind == "amount" and not mark.declared else mark
                )
                yield from self._text(place.below(KEY, is_loose=False), key, [], on_key)
                if mark.kind == "amount" and self.guess.acts and is_unit(key):
                    yield place.below(KEY).leaf(key, "unit")
            is_open = has_pair and not self.guess.is_prose(key)
            below = place.below(key, key, is_loose=not is_known or is_open or is_value_name(key))
            yield from self.walk(below, inner, iter_member_schemas(here, key), mark)

    def _list(
        self, place: _ValuePlace, value: list[Json], here: list[JsonObject], mark: _Mark
    ) -> Iterator[Leaf]:
        for index, inner in enumerate(value):
            yield from self.walk(
                place.below(index, is_loose=True), inner, iter_member_schemas(here, index), mark
            )
        if mark.kind is not None or mark.declared:
            return
        texts = [inner for inner in value if isinstance(inner, str)]
        if len(texts) > 1:  # whoever gets them may join them
            yield from self._find_framed(place, "".join(texts), mark, is_joined=True)
        for pieces in find_pieces(value):
            yield from self._find_framed(place, pieces, mark, is_joined=True)
        yield from self._find_in_bytes(place, value, value, mark)

    def _find_in_bytes(
        self, place: _ValuePlace, whole: Json, numbers: Iterable[Json], mark: _Mark
    ) -> Iterator[Leaf]:
        """Yield the whole as a leaf, once for each sensitive value that the bytes in it spell."""
        spelled = (
            leaf
            for text in decode_numbers(read_whole_numbers(numbers))
            for leaf in self._find_framed(place, text, mark, is_joined=True)
        )
        yield from (place.leaf(whole, leaf.kind) for leaf in spelled)

    def _text(
        self, place: _ValuePlace, text: str, here: list[JsonObject], mark: _Mark
    ) -> Iterator[Leaf]:
        """Yield the text as a leaf, or what it holds: JSON that all readers read alike is walked, others searched."""
        if whole := list(self._leaf(place, text, mark, here)):
            yield from whole
            if any(leaf.kind != "unit" for leaf in whole):
                return
        if place.path in place.named.places and _WAY.fullmatch(text):
            return  # it names a field; what may be the field's value is judged by itself
        place = replace(place, within=place.within or text)
        if (held := parse_unambiguous(text)) is None:
            yield from self._find_framed(place, text, mark)
            return
        if not isinstance(held, str):
            named = place.named.within(find_named_fields(self.guess, held, place.path))
            place = replace(place, named=named, is_loose=True)
        yield from self.walk(
            place, held, [branch.get("contentSchema", {}) for branch in here], mark
        )

    # --- texts that are no JSON to every reader

    def _find_framed(
        self, place: _ValuePlace, text: str, mark: _Mark, *, is_joined: bool = False
    ) -> Iterator[Leaf]:
        """Yield each value behind a sensitive name in the style of JSON, or the whole text if it may hold others."""
        if mark.declared or (_WORDS.fullmatch(text) and not _SPACED.fullmatch(text)):
            return
        self._spend(10 + len(text) // _CHARACTERS)
        shown = list(self._in_form(place, text, mark))
        yield from shown
        kind = self._in_notation(place, text) or self._find_encoded_kind(place, text, mark, shown)
        if kind is None and self.guess.acts and not is_joined and is_opaque(text):
            kind = "opaque"
        if kind is not None:
            yield place.leaf(text, kind)

    def _in_notation(self, place: _ValuePlace, text: str) -> SensitiveKind | None:
        """Return what a field is that the text has in another notation than that of JSON."""
        if not self.guess.acts:
            return None
        as_json = {part.start for part in find_parts(text) if part.after is not None}
        for_people = self.guess.is_prose(place.name)
        is_prose = for_people or is_natural(text)
        found = [one for one in self._fields(text, prose=is_prose) if one.start not in as_json]
        if is_prose and not for_people:
            found += self._fields(find_assignments(text), prose=False)
        return next((kind for one in found if (kind := self._named_by(one)) is not None), None)

    def _fields(self, text: str, *, prose: bool) -> Iterator[Field]:
        for one in fields(text, prose=prose):
            self._spend(1)
            yield one

    def _named_by(self, one: Field) -> SensitiveKind | None:
        kind = self.guess.names(one.name)
        return kind if kind != "amount" or one.has_number else None

    def _find_encoded_kind(
        self, place: _ValuePlace, text: str, mark: _Mark, shown: list[Leaf]
    ) -> SensitiveKind | None:
        """Return what a field is that the text has only once it is decoded."""
        known = {(leaf.kind, equality_key(leaf.value)) for leaf in shown}
        read = [text, _ENTITY.sub(_decode_entity, text)] if self.guess.acts else []
        is_prose = self.guess.is_prose(place.name) or is_natural(text)
        plain = {
            _field_key(one, is_prose) for form in read for one in self._fields(form, prose=False)
        }
        if (
            self.guess.acts
            and not is_prose
            and (kind := self._find_backwards_kind(text, {name for name, _ in plain})) is not None
        ):
            return kind
        lines = {*text.split("\n")}
        for form in find_decodings(text)[1:]:
            changed = "\n".join(line for line in form.split("\n") if line not in lines)
            self._spend(len(changed) // _CHARACTERS)
            for leaf in self._in_form(place, changed if is_prose else form, mark):
                if (leaf.kind, equality_key(leaf.value)) not in known:
                    return leaf.kind
            found = [
                one
                for one in self._fields(changed, prose=False)
                if _field_key(one, is_prose) not in plain
            ]
            for one in found if self.guess.acts else ():
                if (kind := self.guess.names(one.name)) is not None:
                    return kind
        return None

    def _find_backwards_kind(self, text: str, known: set[str]) -> SensitiveKind | None:
        """Return what a field is that a short text has only if it is read from its end."""
        found = (
            self._fields(text[::-1], prose=False) if len(text) <= _LONGEST_BACKWARDS else iter(())
        )
        new = (one for one in found if one.name not in known)
        return next((kind for one in new if (kind := self._named_by(one)) is not None), None)

    def _in_form(self, place: _ValuePlace, text: str, mark: _Mark) -> Iterator[Leaf]:
        place = replace(
            place, named=NamedFields()
        )  # fields that are named by texts are looked for as a notation
        around = place
        done = 0
        for part in find_parts(text):
            self._spend(1)
            if part.start < done:
                continue
            if part.after is None:
                yield from self._leaf(around, part.text, _Mark(), [])
                continue
            around = place.below(part.text, part.text)
            named = self._mark(around, [], mark)
            if named.kind is None:
                continue
            try:
                value, end = value_at(text, part.after)
            except (
                ValueError
            ):  # nobody can say where it ends: all that follows is judged as one value
                rest = text[part.after :].strip()
                if named.kind != "amount" or has_nonzero_digit(rest[:_LONGEST_READ]):
                    yield around.leaf(rest, named.kind)
                    return
                continue
            if isinstance(value, dict | list):
                done = end
                yield from self.walk(around, value, [], named)
            elif value is not None and (named.kind != "amount" or says_how_much(str(value))):
                yield from self._leaf(around, value, named, [])

    # --- one value

    def _leaf(
        self, place: _ValuePlace, value: Json, mark: _Mark, here: list[JsonObject]
    ) -> Iterator[Leaf]:
        kind: SensitiveKind | None = mark.kind
        if not mark.declared:
            kind = self._guess_kind(place, value, mark, here)
        if kind is not None and (kind != "amount" or self.guess.acts):
            yield place.leaf(value, kind)

    def _guess_kind(
        self, place: _ValuePlace, value: Json, mark: _Mark, here: list[JsonObject]
    ) -> SensitiveKind | None:
        """Return what an undeclared value is. A truth value, a listed value and a moment are guessed by look alone."""
        if self._chooses_unit(place, value, by_name=True):
            return "unit"
        if isinstance(value, bool):
            return None
        is_moment = isinstance(value, str) and any(
            branch.get("format") in _MOMENTS for branch in here
        )
        if (place.within is None and self._guaranteed.is_listed(place.path)) or (
            is_moment and mark.kind != "amount" and _MOMENT.fullmatch(value)
        ):
            kind = None
        else:
            kind = self._by_name(place, value, mark) or place.named.guess_kind(
                place.path, place.name, value, is_loose=place.is_loose
            )
        if kind is None and self._chooses_unit(place, value, by_name=False):
            return "unit"
        return (
            self.guess.look(place.name, here, value)
            if kind is None and isinstance(value, str)
            else kind
        )

    def _by_name(self, place: _ValuePlace, value: Json, mark: _Mark) -> Sensitivity | None:
        """Return what the name says, if the value may be one.

        Beneath the name of an amount, a text is one if it says how much in any way. A path on the service's own host,
        such as `/about`, leads nowhere else.
        """
        if mark.kind == "url" and isinstance(value, str) and _OWN_WAY.fullmatch(value):
            return None
        if mark.kind != "amount" or not isinstance(value, str):
            return mark.kind
        if not mark.inherited or number(value) is not None:
            return "amount" if value.strip() else None
        return "amount" if may_be_part_of_amount(place.name, value) else None

    def _chooses_unit(self, place: _ValuePlace, value: Json, *, by_name: bool) -> bool:
        """Return True if the value says of what an amount is one, and the schema leaves a choice."""
        if not self.guess.acts:
            return False
        if by_name:
            is_one = (
                is_unit_flag(place.name) if isinstance(value, bool) else is_unit_field(place.name)
            )
        else:
            is_one = (
                isinstance(value, str) and not self.guess.is_prose(place.name) and is_unit(value)
            )
        return is_one and not (
            place.within is None and self._guaranteed.is_listed(place.path, only_one=True)
        )

    def _mark(self, place: _ValuePlace, here: list[JsonObject], above: _Mark) -> _Mark:
        """Return what holds at a place. A kind wins over `false`, which counts where no alternative is without it.

        A mark that is none of the four kinds is the strictest, `command`.
        """
        said = [branch[SENSITIVE] for branch in here if branch.get(SENSITIVE) is not None]
        for word in said:
            if word is not False:
                return _Mark(word if word in get_args(Sensitivity) else "command", declared=True)
        if (
            said
            and place.within is None
            and self._guaranteed.has_guaranteed_keyword(place.path, SENSITIVE, False)
        ):
            return _Mark(declared=True)
        if above.declared:
            return above
        kind = self.guess.field(place.name, here)
        return _Mark(kind) if kind is not None else _Mark(above.kind, inherited=True)
