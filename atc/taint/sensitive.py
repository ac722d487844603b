"""The values of a call that must be clean: every leaf of every sensitive argument, however it is nested.

A sensitive argument decides whom something goes to (`recipient`), which address is opened or told (`url`), what is
executed (`command`) or how much is paid (`amount`). Its schema says so with `x-atc-sensitive`; else names, formats and
looks are gone by. A declared mark always wins, `false` included.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal, get_args

from atc.paths import KEY, Path, Step, text
from atc.taint.framed import decoded, parts, same_for_all, value_at
from atc.taint.values import Same, number, same
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, combined, inside, types
from protocols.words import PAYS, SENDS, TELLS, snake

Sensitivity = Literal["recipient", "url", "command", "amount"]

SENSITIVE = "x-atc-sensitive"
"""The keyword of an argument's schema."""
NAMES: Mapping[str, frozenset[str]] = {
    what: frozenset(words)
    for what, words in tomllib.loads(files("atc.taint").joinpath("names.toml").read_text(encoding="utf-8")).items()
}
"""Words of names by what they say, see `names.toml`."""

_MAX_DEPTH = 40
_MAX_BRANCHES = 200
_LONGEST_ADDRESS = 400
"""Characters of an address of a person; a longer text is none."""

_EMAIL = re.compile(r"(?:mailto:)?[^\s@<>,;:\"()]+@[^\s@<>,;:\"()]+\.[^\s@<>,;:\"()]+", re.IGNORECASE)
_NAMED_EMAIL = re.compile(r"[^<>]*<[^\s@<>]+@[^\s@<>]+>")
_PHONE = re.compile(r"(?:tel|sms):\S+|\+\d[\d\s().-]{6,20}", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_WALLET = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?(?://|\\\\)\S|\s*www\.\S", re.IGNORECASE)
_HOST = re.compile(r"(?:localhost|\[[0-9a-f:.]+\]|(?:[^\s./:@]+\.)+[^\s./:@]+)\.?(?::\d+)?(?:/.*)?", re.IGNORECASE)
_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_HOST_FORMATS = frozenset({"hostname", "idn-hostname", "ipv4", "ipv6"})
_MOMENTS = frozenset({"date", "date-time", "time", "duration"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value of a sensitive argument, by the argument's original name and the steps that lead to it there.

    A name of a field that no schema knows is such a value too, since the program chose it: its last step is `KEY`.
    """

    argument: str
    path: Path
    value: Json
    kind: Sensitivity
    within: str | None = None
    """The text of the argument that holds the value, where it is a part of one."""

    @property
    def place(self) -> str:
        """The argument and the place in it: `message.to[0]`."""
        named = self.path[:-1] if self.path[-1:] == (KEY,) else self.path
        return text((self.argument, *named)) + (" (a key)" if named != self.path else "")


def sensitive_leaves(protocol: ToolProtocol, arguments: JsonObject) -> Iterable[Leaf]:
    """The leaves that must be clean, each value of an argument once; `arguments` by original name.

    A mark holds for all that is beneath it; a text is looked into where it is no leaf itself. `null` is never a leaf. A
    truth value is one, and a text without a number is an amount, beneath a declared mark alone. Amounts count on tools
    that do something.
    """
    search, found = _Search(protocol), dict[tuple[str, str, Same], Leaf]()
    for name, value in arguments.items():
        schema = protocol.parameters.get(name, protocol.input_schema.get("additionalProperties", {}))
        for leaf in search.walk(_Place(name, (), name), value, [schema], _Mark()):
            found.setdefault((name, leaf.kind, same(leaf.value)), leaf)
    return found.values()


def is_email(text: str) -> bool:
    """Whether the whole text is one e-mail address."""
    return len(text) <= _LONGEST_ADDRESS and _EMAIL.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands. `name` is the nearest name: that of the field, or of the list that holds the value."""

    argument: str
    path: Path
    name: str
    within: str | None = None

    def below(self, step: Step, name: str | None = None) -> _Place:
        return replace(self, path=(*self.path, step), name=name or self.name)

    def leaf(self, value: Json, kind: Sensitivity) -> Leaf:
        return Leaf(argument=self.argument, path=self.path, value=value, kind=kind, within=self.within)


@dataclass(frozen=True, slots=True)
class _Mark:
    """What holds at a place. `declared`: a schema says so, with no kind for `false`, under which nothing is guessed.

    `inherited`: the name of something around it was what the guess went by.
    """

    kind: Sensitivity | None = None
    declared: bool = False
    inherited: bool = False


class _Search:
    """Looks for the sensitive values of one call."""

    def __init__(self, protocol: ToolProtocol) -> None:
        self._root = protocol.input_schema
        self._verbs = words = _words(protocol.name)
        self._tells = words[:1] != () and words[0] in TELLS and (len(words) == 1 or words[1] in NAMES["persons"])
        """Whether it is named as telling somebody something: `call`, `message_user`; not `message_login`."""
        self._acts = protocol.writes or bool({*words[:1]} & (SENDS | PAYS)) or self._tells
        """Whether it may do something: what writes does, and what is named as sending (`sendMessage`)."""
        one_way = "from" not in map(str.lower, protocol.parameters)
        self._to_somebody = one_way or bool({*words} & (SENDS | PAYS)) or self._tells
        """Whether `to` is no end of a way, a range or a conversion that has a beginning as well."""

    def walk(self, place: _Place, value: Json, schemas: Iterable[Json], above: _Mark) -> Iterator[Leaf]:
        """The leaves in a value that may have one of these schemas."""
        if value is None:
            return
        if len(place.path) > _MAX_DEPTH:  # no argument that anybody declared: it is looked at as a whole
            yield from self._leaf(place, json.dumps(value), replace(above, kind=above.kind or "command"), [])
            return
        here = combined(schemas, self._root, most=_MAX_BRANCHES)
        mark = self._mark(place.name, here, above)
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if not any(key in branch.get("properties", {}) for branch in here):
                    # A key is no amount, but for a declared mark.
                    on_key = _Mark(inherited=True) if mark.kind == "amount" and not mark.declared else mark
                    yield from self._text(place.below(KEY), key, [], on_key)
                yield from self.walk(place.below(key, key), inner, inside(here, key), mark)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self.walk(place.below(index), inner, inside(here, index), mark)
            texts = [inner for inner in value if isinstance(inner, str)]
            if len(texts) > 1 and mark.kind is None:  # whoever gets them may join them
                yield from self._framed(place, "".join(texts), mark)
        elif isinstance(value, str):
            yield from self._text(place, value, here, mark)
        else:
            yield from self._leaf(place, value, mark, here)

    def _text(self, place: _Place, text: str, here: list[JsonObject], mark: _Mark) -> Iterator[Leaf]:
        """The text as a leaf, or what it holds: JSON that every reader reads alike is walked, other texts searched."""
        if whole := list(self._leaf(place, text, mark, here)):
            yield from whole
            return
        place = replace(place, within=place.within or text)
        if (held := same_for_all(text)) is not None:
            yield from self.walk(place, held, [branch.get("contentSchema", {}) for branch in here], mark)
        else:
            yield from self._framed(place, text, mark)

    def _framed(self, place: _Place, text: str, mark: _Mark) -> Iterator[Leaf]:
        """Each value behind a sensitive name and each quoted address, however the text is framed or encoded."""
        for form in decoded(text) if not mark.declared else ():
            yield from self._in_form(place, form, mark)

    def _in_form(self, place: _Place, text: str, mark: _Mark) -> Iterator[Leaf]:
        around, done = place, 0
        for part in parts(text):
            if part.start < done:
                continue
            if part.after is None:
                yield from self._leaf(around, part.text, _Mark(), [])
                continue
            around, named = place.below(part.text, part.text), self._mark(part.text, [], mark)
            if named.kind is None:
                continue
            try:
                value, end = value_at(text, part.after)
            except ValueError:  # nobody can say where it ends: all that follows is judged as one value
                yield around.leaf(text[part.after :].strip(), named.kind)
                return
            if isinstance(value, dict | list):
                done = end
                yield from self.walk(around, value, [], named)
            elif value is not None:
                yield from self._leaf(around, value, named, [])

    def _leaf(self, place: _Place, value: Json, mark: _Mark, here: list[JsonObject]) -> Iterator[Leaf]:
        kind = mark.kind
        if not mark.declared:
            if isinstance(value, bool):
                return
            if _is_closed(here):
                kind = None
            if kind == "amount" and isinstance(value, str):
                # A text beside an amount, under the same name, is one only if it is a number.
                is_amount = number(value) is not None if mark.inherited else any(map(str.isdigit, value))
                kind = "amount" if is_amount else None
            if kind is None and isinstance(value, str):
                kind = self._by_shape(place.name, here, value)
        if kind is not None and (kind != "amount" or self._acts):
            yield place.leaf(value, kind)

    def _mark(self, name: str, here: list[JsonObject], above: _Mark) -> _Mark:
        """What holds for a field of this name; a kind wins over `false` where schemas differ.

        A mark that is none of the four kinds is the strictest, `command`.
        """
        said = [branch[SENSITIVE] for branch in here if branch.get(SENSITIVE) is not None]
        for word in said:
            if word is not False:
                return _Mark(word if word in get_args(Sensitivity) else "command", declared=True)
        if said:
            return _Mark(declared=True)
        if above.declared:
            return above
        kind = self._guessed(name, here)
        return _Mark(kind) if kind is not None else _Mark(above.kind, inherited=True)

    def _guessed(self, name: str, here: list[JsonObject]) -> Sensitivity | None:
        """What the name and the format of a field say it is.

        A closed set of values, a truth value and a moment are never guessed to be sensitive.
        """
        kinds = {kind for branch in here for kind in types(branch)}
        formats = {str(branch["format"]) for branch in here if "format" in branch}
        if _is_closed(here) or kinds == {"boolean"} or formats & _MOMENTS:
            return None
        if formats & {"email", "idn-email"} and self._acts:
            return "recipient"
        said = self._by_name(_words(name))
        if said in ("amount", None) and formats & _HOST_FORMATS:
            return "url"
        return None if said == "amount" and kinds and not kinds & {"number", "integer", "string", "object"} else said

    def _by_name(self, words: tuple[str, ...]) -> Sensitivity | None:
        """On a tool that only reads, a recipient is guessed by the plainest names alone and an amount never."""
        every, verbs = set(words), set(self._verbs)
        if not words or (words[-1] in NAMES["aside"] and not (words[-1] == "limit" and every & NAMES["amounts"])):
            return None
        kept = words
        while len(kept) > 1 and kept[-1] in NAMES["of_an_address"]:
            kept = kept[:-1]
        executed = (words[-1] in NAMES["sources"] and verbs & {*NAMES["executes"], "run"}) or (
            words[-1] in NAMES["inputs"] and verbs & NAMES["executes"]
        )
        if every & NAMES["urls"]:
            return "url"
        if every & NAMES["commands"] or executed:
            return "command"
        if every & NAMES["recipients"]:
            return "recipient"
        if not self._acts:
            return None
        if words == ("to",):
            return "recipient" if self._to_somebody else None
        sent = (verbs & SENDS or self._tells) and kept[-1] in NAMES["who"]
        to = kept[0] == "to" and kept[-1] in {*NAMES["who"], "to"}
        if kept[-1] in NAMES["recipients_of_writes"] or sent or to:
            return "recipient"
        paid = words[-1] in NAMES["amounts_of_payments"] and verbs & PAYS
        sum_of_money = every & NAMES["amounts"] or words[-1] in NAMES["money"] or paid
        return "amount" if sum_of_money and words[-1] not in NAMES["of_no_amount"] else None

    def _by_shape(self, name: str, here: list[JsonObject], value: str) -> Sensitivity | None:
        """What a text says it is by itself: an address of a person or of the network, whatever its field is named.

        What is named as prose (`text`, `note`) is none. Of a tool that only reads, addresses of the network count where
        name or format hint at one.
        """
        last = _words(name)[-1:]
        if {*last} & NAMES["prose"]:
            return None
        hinted = bool({*last} & NAMES["maybe_urls"]) or any(b.get("format") in _URL_FORMATS for b in here)
        if (self._acts or hinted) and _ADDRESS.match(value):
            return "url"
        if hinted and {*last} & NAMES["hosts"] and _HOST.fullmatch(value.strip()):
            return "url"
        return "recipient" if self._acts and _reaches_somebody(value.strip()) else None


def _is_closed(here: list[JsonObject]) -> bool:
    return any("enum" in branch or "const" in branch for branch in here)


def _reaches_somebody(text: str) -> bool:
    """Whether the text is nothing but e-mail addresses, a telephone number, an IBAN or a wallet's address."""
    if len(text) > _LONGEST_ADDRESS:
        return all(map(is_email, re.split(r"[,;\s]+", text)))
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    if parts and all(is_email(part) or _NAMED_EMAIL.fullmatch(part) for part in parts):
        return True
    return any(pattern.fullmatch(text) for pattern in (_PHONE, _WALLET)) or _is_iban(text.replace(" ", "").upper())


def _is_iban(text: str) -> bool:
    """By its check digits (ISO 13616)."""
    digits = "".join(str(int(c, 36)) for c in text[4:] + text[:4]) if _IBAN.fullmatch(text) else "0"
    return int(digits) % 97 == 1


def _words(name: str) -> tuple[str, ...]:
    """`toAddress`, `to-address` and `to_address` are the same words."""
    return tuple(filter(None, snake(name).split("_")))
