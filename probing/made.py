"""What this probing made, and what it may therefore change and take away: nothing but what carries its mark.

A record is this probing's own where a read shows it with the mark, under the id that no answer held before; and where
no mark fits, the record of the very id that the answer to the create gave, where a read shows what was sent.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from probing.effects.words import UNTOLD, Kind, kind_of
from probing.gate.plan import reads
from probing.log import Log
from probing.mark import Mark
from probing.sample import Sample
from probing.shape import text_of
from probing.soft_errors import refusal_in
from probing.things import (
    address,
    alike,
    has_list,
    id_fields,
    in_path,
    listed,
    noun_made,
    parts_of,
    records,
    words_of,
)
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol
from protocols.vocabulary import ID_WORDS, VAGUE
from protocols.words import singular, snake

_NAMES = frozenset({
    "alias", "dest", "destination", "email", "file", "filename", "filepath", "name", "path", "source", "src", "title",
})  # fmt: skip
"""Last words of arguments by which a thing is known, besides ids."""
_UNNAMED = frozenset({"guid", "id", "uid", "uuid"})
"""Ids that a service gives by itself where they are left out."""
_REFUSALS = (409, 425, 429)

Id = tuple[str, str]
"""The noun of which it is an id, and its text."""


@dataclass
class Made:
    """A record that calls of a write created, or may have created.

    `given` are the ids in the answers to these calls; `ids` those under which a read showed it as this probing's own.
    `shown` is the number of the last sample that showed it, `gone` that of the call that took it away, if one did.
    """

    tool: str
    noun: str
    calls: list[Sample]
    marks: frozenset[str]
    given: set[Id] = field(default_factory=set)
    ids: set[Id] = field(default_factory=set)
    shown: int = 0
    gone: int = 0
    gone_by: str = ""
    within: bool = False

    @property
    def there(self) -> bool:
        """Whether it is there still, as far as answers tell."""
        return not self.gone or self.shown > self.gone


class Ledger:
    """All that a probing made, by its log, and the law of what it may send to a tool that writes."""

    def __init__(self, protocols: Mapping[str, ToolProtocol], log: Log) -> None:
        """`last` says of each tool why a call was refused last."""
        self._protocols, self._log = protocols, log
        told = {name: kind_of(protocol) for name, protocol in protocols.items()}
        # What nothing is told of may make something, and is given nothing by which it would change what is there.
        self._kinds: dict[str, Kind] = {n: "create" if why == UNTOLD else kind for n, (kind, why) in told.items()}
        self._writes = {n for n, p in protocols.items() if not reads(p) and self._kinds[n] != "read"}
        self._nouns = {name: noun_made(protocol) for name, protocol in protocols.items()}
        self._words = {name: {noun, *words_of(protocols[name])} for name, noun in self._nouns.items()}
        self._made: list[Made] = []
        self._maybe: list[Sample] = []
        self._met: dict[Id, int] = {}
        self._held: dict[str, set[str]] = {}
        self._single: set[str] = set()
        self.last: dict[str, str] = {}
        self._values: dict[str, str | int] = {}
        self._last = self._count = 0
        self._mark: Mark | None = None

    @property
    def mark(self) -> Mark:
        """The probing's mark, which is drawn when it is first wanted."""
        self._mark = self._mark or Mark(self._log)
        return self._mark

    def restricts(self, tool: str) -> bool:
        """Whether what is sent to a tool must carry the mark: it writes, or may."""
        return tool in self._writes

    def made(self) -> list[Made]:
        """All that was made, and what became of it, in the order in which it was."""
        self._take()
        return self._made

    def removes(self, tool: str) -> bool:
        """Whether a tool takes things away."""
        return self._kinds[tool] == "remove"

    def marks_in(self, arguments: JsonObject) -> set[str]:
        """The texts among arguments that carry the mark."""
        parts = (part for name, value in arguments.items() for _, part in parts_of(name, value))
        return {part for part in parts if isinstance(part, str) and self.mark.on(part)}

    def adds(self, tool: str) -> bool:
        """Whether each call of a tool may make one more record."""
        return tool in self._writes and self._kinds[tool] in ("create", "update")

    def made_by(self, tool: str) -> int:
        """How many records of a tool's making are there still."""
        return sum(one.there and tool == one.tool for one in self.made())

    def removable(self) -> int:
        """How many records are there still that a tool takes away."""
        removers = [tool for tool in self._writes if self.removes(tool)]
        return sum(one.there and any(self.takes(tool, one) for tool in removers) for one in self.made())

    def takes(self, tool: str, made: Made) -> bool:
        """Whether a tool may take away or change what was made: it is about the same, by its name or an argument."""
        nouns = {self.noun_of(tool, name) for name in self._protocols[tool].parameters if self.names_it(tool, name)}
        return any(alike(made.noun, noun) for noun in (*nouns, *self._words[tool]))

    def owned(self, tool: str, argument: str, *, of: Made | None = None, born: bool = False) -> list[str | int]:
        """Ids of this probing's own records that an argument may take, the latest first; `of`: of this one.

        `born`: also those that no read has shown yet.
        """
        noun, all_made = self.noun_of(tool, argument), [one for one in reversed(self.made()) if of in (None, one)]
        held = [pair for one in all_made for pair in (*one.ids, *one.given)]
        held = [pair for pair in held if born or self.mark.on(pair[1]) or any(pair in one.ids for one in all_made)]
        found = [text for n, text in held if alike(n, noun)]
        by_id = snake(argument).rpartition("_")[2] in ID_WORDS
        found.sort(key=lambda text: self.mark.on(text) == by_id)  # stable: the latest first
        return [self._values.get(text, text) for text in dict.fromkeys(found)]

    def refuses(self, tool: str, arguments: JsonObject) -> str:
        """Why a call is not made, as it might change what is not this probing's own; empty where it may be."""
        if tool not in self._writes:
            return ""
        self._take()
        match self._kinds[tool]:
            case "create":
                why = self._refuses_to_create(tool, arguments)
            case "end":
                why = "it ends what others rest on, such as a session"
            case kind:
                why = self._refuses_to_change(tool, arguments, removes=kind == "remove")
        if why:
            self.last[tool] = why
        return why

    def names_it(self, tool: str, argument: str) -> bool:
        """Whether an argument says which record a call makes, changes or takes away."""
        word = singular(snake(argument))
        last = word.rpartition("_")[2]
        if in_path(self._protocols[tool], argument):
            return True
        if not (last in _NAMES or last in ID_WORDS or word in VAGUE):
            return False
        before = word.rpartition("_")[0]
        return self._kinds[tool] == "remove" or not before or alike(singular(before), self._nouns[tool])

    def named_by(self, tool: str) -> list[str]:
        """The arguments without which a record would get a name that others may have."""
        names = self._protocols[tool].parameters
        return [name for name in names if self.names_it(tool, name) and snake(name) not in _UNNAMED]

    def _refuses_to_create(self, tool: str, arguments: JsonObject) -> str:
        if self._nouns[tool] and self._is_single(tool):
            return "a read of the same address shows one record, which it would write over"
        protocol = self._protocols[tool]
        for name in self.named_by(tool):
            if name not in arguments:
                return f"without {name!r} it might write over what is there"
        parts = [(name, key, part) for name, value in arguments.items() for key, part in parts_of(name, value)]
        known = False
        for name, key, part in parts:
            names_it = self.names_it(tool, name) or (key != name and self.names_it(tool, key))
            if self.is_own(tool, key, part, born=True):
                known = known or (part is not None and not isinstance(part, bool))
            elif names_it:
                return f"{key!r} would not carry this probing's mark, and might be that of what is there"
            elif snake(key).rpartition("_")[2] in ID_WORDS:
                known = True
                if part not in listed(protocol.parameters.get(name, {})) and self.holds(tool, key, part):
                    return f"a read shows {key!r} of this value already"
        answers = any(one.given for one in self._made if one.tool == tool)  # with an id, by which it is known as well
        if not known and not answers and protocol.parameters.keys() - arguments.keys():
            return "nothing in it would carry this probing's mark"
        # Of a record that nothing tells from others, any value may be the one by which it is found and written over.
        if not known and (held := next((key for _, key, part in parts if self.holds(tool, key, part)), "")):
            return f"nothing in it carries the mark, and a read shows {held!r} of this value already"
        return ""

    def _refuses_to_change(self, tool: str, arguments: JsonObject, *, removes: bool) -> str:
        mine = 0
        for name, value in arguments.items():
            names_it = self.names_it(tool, name)
            choices = listed(self._protocols[tool].parameters.get(name, {}))
            for key, part in parts_of(name, value):
                wanted = names_it or (key != name and self.names_it(tool, key))
                text = isinstance(part, str) and removes and part not in choices
                if not (wanted or text):
                    continue
                if not self.is_own(tool, key, part):
                    return f"{key!r} is of nothing that was shown to carry this probing's mark"
                mine += wanted or isinstance(value, list)
        return "" if mine else "it is not told which record is meant, so it might be one that was there before"

    def is_own(self, tool: str, argument: str, value: Json, *, born: bool = False) -> bool:
        """Whether a value carries the mark, or is the id of a record of this probing's own; `born`: or may be."""
        if isinstance(value, Mapping | list):
            return all(self.is_own(tool, key, part, born=born) for key, part in parts_of(argument, value))
        if self.mark.on(value) or isinstance(value, bool) or value is None:
            return True
        noun, text = self.noun_of(tool, argument), text_of(value)
        return any(
            text == known and alike(n, noun)
            for one in self._made
            for n, known in (one.ids | one.given if born else one.ids)
        )

    def holds(self, tool: str, key: str, value: Json) -> bool:
        """Whether a read of what a tool makes holds a value that no call put there."""
        parts = (
            pair for made in self._made for call in made.calls for n, v in call.plain.items() for pair in parts_of(n, v)
        )
        if any(name == key and part == value for name, part in parts):
            return False
        text = text_of(value) if isinstance(value, str) else f"{snake(key)}={text_of(value)}"
        return any(text in held for read, held in self._held.items() if self.is_about(read, tool))

    def is_about(self, read: str, write: str) -> bool:
        """Whether a read shows what a write makes, by their addresses or by their names."""
        one, other = self._protocols[read].binding, self._protocols[write].binding
        if isinstance(one, HttpBinding) and isinstance(other, HttpBinding) and address(one) == address(other):
            return True
        return bool(self._nouns[write]) and alike(self._nouns[read], self._nouns[write])

    def _is_single(self, tool: str) -> bool:
        mine = self._protocols[tool].binding
        for read in self._single:
            other = self._protocols[read].binding
            if isinstance(mine, HttpBinding) and isinstance(other, HttpBinding):
                if address(mine) == address(other) and "{" not in mine.url:
                    return True
            elif not self._protocols[read].parameters and self.is_about(read, tool):
                last = snake(read).rpartition("_")[2]
                if last == singular(last):
                    return True
        return False

    def noun_of(self, tool: str, argument: str) -> str:
        """What an argument's value is an id of."""
        protocol, word = self._protocols[tool], snake(argument)
        before, _, last = word.rpartition("_")
        if before and (last in ID_WORDS or singular(last) in ID_WORDS):
            return singular(before)
        if in_path(protocol, argument) and isinstance(protocol.binding, HttpBinding):
            parts = address(protocol.binding)
            wire = protocol.binding.wire_names.get(argument, argument)
            place = next((n for n, part in enumerate(parts) if f"{{{wire}}}" in part), 0)
            if place and "{" not in parts[place - 1]:
                return singular(snake(parts[place - 1]))
        return self._nouns[tool]

    def _take(self) -> None:
        """Take in the samples that came since."""
        if len(self._log.samples) == self._count:
            return
        self._count = len(self._log.samples)
        new = [sample for sample in self._log.samples if sample.number > self._last]
        for sample in sorted(new, key=lambda s: s.number):
            self._last = sample.number
            if sample.purpose == "recorded" or sample.tool not in self._protocols:
                continue
            if sample.tool in self._writes:
                self._take_write(sample)
            if sample.done:
                self._take_answer(sample)

    def _take_write(self, sample: Sample) -> None:
        kind = self._kinds[sample.tool]
        if kind in ("remove", "end"):
            if sample.done and not refusal_in(sample.response):
                self._take_away(sample)
            return
        named = [(k, p) for n, v in sample.plain.items() for k, p in parts_of(n, v) if self.names_it(sample.tool, k)]
        noun = self._nouns[sample.tool]
        if kind == "update" and any(
            not self.mark.on(p) and alike(self.noun_of(sample.tool, k), noun) for k, p in named
        ):
            return  # of a record that is known already
        known = self._known(noun)
        fresh = {text for _, text in self._answered(sample)} - known
        if kind == "update" and named and {text_of(part) for _, part in named} <= known and not fresh:
            return
        http = isinstance(self._protocols[sample.tool].binding, HttpBinding)
        broken = sample.outcome == "unknown" and sample.status not in _REFUSALS
        python = isinstance(self._protocols[sample.tool].binding, PythonBinding)
        said_no = python or (sample.answer is not None and not http)  # a function that raises says no
        acted = sample.done or (broken and not said_no)
        if not acted or (sample.done and refusal_in(sample.response)):
            self._maybe.append(sample)
            return
        self._add(sample)

    def _answered(self, sample: Sample) -> set[Id]:
        """The ids of a thing itself in the answer of the call that made it."""
        noun = self._nouns[sample.tool]
        sent = {text_of(part) for n, v in sample.plain.items() for _, part in parts_of(n, v)}
        found = records(sample.response if sample.done else None, top=True)
        ids = {one for record, around in found for one in self._own_ids(record, {noun, around}, noun)}
        return {one for one in ids if one[1] not in sent}

    def _add(self, sample: Sample) -> Made:
        noun = self._nouns[sample.tool]
        marks = frozenset(self.marks_in(sample.plain))
        own = self._answered(sample)
        given = {one for one in own if self._met.get(one, sample.number) >= sample.number}
        key = self._key(sample)
        for one in self._made:
            same = one.given & own or (not given and not one.given and key and key == self._key(one.calls[0]))
            if one.there and one.noun == noun and same:
                one.calls.append(sample)
                return one
        made = Made(tool=sample.tool, noun=noun, calls=[sample], marks=marks, given=given)
        known = self._known(noun) if self._kinds[sample.tool] == "update" else set()
        for word, part in (pair for n, v in sample.plain.items() for pair in parts_of(n, v)):
            if self.names_it(sample.tool, word) and part is not None and self.is_own(sample.tool, word, part):
                of = noun if self.mark.on(part) else self.noun_of(sample.tool, word)
                if text_of(part) not in known:
                    made.ids.add((of, text_of(part)))
        self._made.append(made)
        return made

    def _known(self, noun: str) -> set[str]:
        """Under what things of this kind that were made before, and are there, go."""
        return {text for one in self._made if one.there for n, text in one.ids if alike(n, noun)}

    def _key(self, sample: Sample) -> frozenset[str]:
        given = (pair for name, value in sample.plain.items() for pair in parts_of(name, value))
        parts = [pair for pair in given if self.names_it(sample.tool, pair[0])]
        ids = [pair for pair in parts if snake(pair[0]).rpartition("_")[2] in ID_WORDS]
        return frozenset(text_of(part) for _, part in ids or parts)

    def _take_away(self, sample: Sample) -> None:
        texts = {(self.noun_of(sample.tool, k), text_of(p)) for n, v in sample.plain.items() for k, p in parts_of(n, v)}
        for one in self._made:
            ids = one.ids | one.given
            hit = any(text == known and alike(n, noun) for n, known in ids for noun, text in texts)
            named = one.marks & {text for _, text in texts} and self.takes(sample.tool, one)
            if one.there and (hit or (named and not one.ids)):
                one.gone, one.gone_by = sample.number, sample.tool
                self._take_within(one, sample)

    def _take_within(self, outer: Made, sample: Sample) -> None:
        """What was made in a record that is gone went with it."""
        ids = {text for _, text in outer.ids | outer.given}
        for one in self._made:
            pairs = (pair for call in one.calls for n, v in call.plain.items() for pair in parts_of(n, v))
            above = (text_of(p) for k, p in pairs if alike(self.noun_of(one.tool, k), outer.noun))
            if one.there and not alike(one.noun, outer.noun) and not ids.isdisjoint(above):
                one.gone, one.gone_by, one.within = sample.number, sample.tool, True

    def _take_answer(self, sample: Sample) -> None:
        tool, shows = sample.tool, sample.tool not in self._writes
        text = json.dumps(sample.response, ensure_ascii=False).lower() if shows and (self._made or self._maybe) else ""
        marked = bool(text) and self.mark.token in text
        held: set[str] = self._held.setdefault(tool, set()) if shows else set()
        if shows and isinstance(sample.response, Mapping) and not any(has_list(v) for v in [sample.response]):
            scalars = [v for v in sample.response.values() if not isinstance(v, Mapping | list)]
            (self._single.add if scalars else self._single.discard)(tool)
        elif shows:
            self._single.discard(tool)
        for record, around in records(sample.response):
            if shows and (marked or any(known in text for m in self._made for _, known in m.given)):
                self._recognise(record, around, sample)
            for one in self._any_ids(record, {self._nouns[tool], around}):
                self._met.setdefault(one, sample.number)
            if shows:
                for name, value in record.items():
                    for part in value if isinstance(value, list) else [value]:
                        if isinstance(part, str):
                            held.add(part)
                        elif isinstance(part, int):
                            held.add(f"{snake(name)}={text_of(part)}")

    def _recognise(self, record: JsonObject, around: str, sample: Sample) -> None:
        """Note which of our records a read shows, and under which id."""
        before = [one for one in self._made if one.calls[0].number < sample.number]
        ordered = sorted(before, key=lambda one: one.gone > 0)
        nouns = {self._nouns[sample.tool], around}
        for made in ordered:
            if (made.ids | made.given).intersection(self._own_ids(record, nouns, made.noun)):
                found, is_it = self._of(made, record, nouns)
                made.ids |= found if is_it else set()
                made.shown = sample.number
                return
        for made in ordered:
            found, is_it = self._of(made, record, nouns)
            if is_it and not made.given:
                if found and any(text not in made.marks for _, text in made.ids):  # equal calls made several things
                    calls = [made.calls.pop() if len(made.calls) > 1 else made.calls[-1]]
                    made = Made(tool=made.tool, noun=made.noun, calls=calls, marks=made.marks)
                    self._made.append(made)
                made.ids |= found
                made.shown = sample.number
                return
        for call in self._maybe:
            maybe = Made(tool=call.tool, noun=self._nouns[call.tool], calls=[call], marks=frozenset())
            if self._of(maybe, record, nouns)[1]:
                self._maybe.remove(call)
                added = self._add(call)
                added.shown = sample.number
                return
        same = [one for one in before if any(alike(noun, one.noun) for noun in nouns)]
        if same and all(one.gone for one in same) and self.mark.token in json.dumps(record).lower():
            same[-1].shown = sample.number  # under another name, or in another form

    def _of(self, made: Made, record: JsonObject, nouns: Collection[str]) -> tuple[set[Id], bool]:
        """The ids of a record, and whether it is what these calls made."""
        found = set()
        begun = made.calls[0].number
        sent = [one for call in made.calls for one, _ in records(call.plain)]
        mine = {text_of(part) for call in made.calls for n, v in call.plain.items() for _, part in parts_of(n, v)}
        for one in self._own_ids(record, nouns, made.noun):
            if self._met.get(one, begun) >= begun and (one[1] not in mine or self.mark.on(one[1])):
                found.add(one)
        names = {snake(name): value for name, value in record.items()}
        for given in sent:
            common = {n: v for n, v in ((snake(n), v) for n, v in given.items()) if n in names}
            equal = [v for n, v in common.items() if text_of(names[n]) == text_of(v)]
            marked = any(self.mark.on(v) for v in equal)
            born = bool(found & made.given)
            held = any(self.mark.on(v) for v in record.values() if isinstance(v, str))
            if not made.given and marked:
                return found, True
            if born and (marked or held or (equal and len(equal) == len(common))):
                return found & made.given, True
        return set(), False

    def _own_ids(self, record: JsonObject, nouns: Collection[str], noun: str) -> Iterator[Id]:
        """The ids of a record itself, under the noun of what was made."""
        for word, value in id_fields(record):
            before = singular(word.rpartition("_")[0])
            if alike(before, noun) if before else any(alike(n, noun) for n in nouns if n):
                self._values[text_of(value)] = value
                yield noun, text_of(value)

    def _any_ids(self, record: JsonObject, nouns: Collection[str]) -> Iterator[Id]:
        for word, value in id_fields(record):
            before = singular(word.rpartition("_")[0])
            yield from ((noun, text_of(value)) for noun in ({before} if before else nouns) if noun)
