"""What this probing made, and what it may therefore change and take away: nothing but what carries its random mark.

A record is this probing's own where a read shows it with the mark, under an id that no answer held before; and where
no mark fits, the record of the very id that the answer to the create gave, where a read shows what was sent.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname, splitext
from typing import Any

from probing.error_replies import refusal_in
from probing.infer import conforms
from probing.name_distance import scalar_parts, url_text
from probing.samples import Log, Sample
from probing.tool_facts import place_of
from protocols.effects import UNKNOWN_EFFECT, is_known_read, likely_action
from protocols.effects.verbs import VerbKind, kind_of_word
from protocols.naming import ID_WORDS, VAGUE, WRAPPERS, singular, snake
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol
from protocols.schema import Json, JsonObject, resolve

_NAMES = frozenset({
    "alias", "dest", "destination", "email", "file", "filename", "filepath", "name", "path", "source", "src", "title",
})  # fmt: skip
"""Last words of arguments by which a thing is known, besides ids."""
_UNNAMED = frozenset({"guid", "id", "uid", "uuid"})
"""Ids that a service gives by itself where they are left out."""

Id = tuple[str, str]
"""The noun of which it is an id, and its text."""
_NOTE = "mark"
_LETTERS = 8
_PLACED = {"email": "{}@example.com", "hostname": "{}.example.com", "uri": "https://example.com/{}"}
"""Where the mark stands in a text of some format."""
_FIXED = frozenset({"byte", "date", "date-time", "duration", "ipv4", "ipv6", "time"})
"""Formats in which it can stand nowhere."""
_PREPOSITIONS = frozenset({"at", "by", "for", "from", "in", "into", "of", "on", "to", "with"})


class ProbeMarker:
    """The mark of one probing. The same folder has the same mark, however often the command is run."""

    def __init__(self, log: Log) -> None:
        if _NOTE not in log.notes:
            letters = random.SystemRandom()
            log.note(_NOTE, "".join(letters.choice("bcdfghjkmnpqrstvwxz") for _ in range(_LETTERS)))
        self.token = str(log.notes[_NOTE])
        seeded = random.Random(self.token)  # noqa: S311 - the token itself is drawn by the system
        self._number = seeded.randrange(10**8, 10**9)
        self._uuid = str(uuid.UUID(int=seeded.getrandbits(128), version=4))
        self.text = f"{self.token}-atc-probe"  # what is cut off behind is not what tells it apart

    def is_in(self, value: Json) -> bool:
        """Whether a text or a number carries the mark."""
        if isinstance(value, str):
            return (
                self.token in value.lower()
                or value.lower() == self._uuid
                or value == str(self._number)
            )
        return value == self._number and not isinstance(value, bool)

    def insert_into(
        self, value: Json, schema: Json, root: JsonObject, *, key: bool = False
    ) -> Json:
        """`value` with the mark in each text, as far as its schema allows; in a `key`, numbers are replaced too."""
        clauses: Mapping[str, Any] = resolve(schema, root) if isinstance(schema, Mapping) else {}
        match value:
            case list():
                return [
                    self.insert_into(part, clauses.get("items", {}), root, key=key)
                    for part in value
                ]
            case Mapping():
                inner = clauses.get("properties", {})
                return {
                    name: self.insert_into(part, inner.get(name, {}), root)
                    for name, part in value.items()
                }
            case str():
                return next(
                    (text for text in self._texts(value, clauses) if _valid(clauses, root, text)),
                    value,
                )
            case int() if (
                key and not isinstance(value, bool) and _valid(clauses, root, self._number)
            ):
                return self._number
            case _:
                return value

    def _texts(self, value: str, clauses: Mapping[str, Any]) -> list[str]:
        """What may stand for a text, best first; nothing where it is one of few, or a time."""
        form = str(clauses.get("format", ""))
        if (
            self.is_in(value)
            or "enum" in clauses
            or "const" in clauses
            or form in _FIXED
            or is_number_or_time(value)
        ):
            return []
        if form == "uuid":
            return [self._uuid]
        if form not in _PLACED and re.fullmatch(r"[^@\s]+@[^@\s]+", value):
            form = "email"
        elif form not in _PLACED and "://" in value:
            form = "uri"
        if form in _PLACED:
            return [_PLACED[form].format(self.text)]
        if "/" in value.strip("/."):
            return [f"{dirname(value)}/{self.text}{splitext(value)[1]}"]
        longer = self.text + value[len(self.text) :]
        return [self.text, self.token, self.token.upper(), self.token.title(), self._uuid, longer]


def is_number_or_time(text: str) -> bool:
    """Whether a text is a number, a date or a time rather than a word: `2024-01-15T00:00:00Z`, `12:00`."""
    return any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) <= 2


def _valid(clauses: Mapping[str, Any], root: JsonObject, value: Json) -> bool:
    beside = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return conforms({**beside, **clauses}, value, otherwise=True)


@dataclass
class CreatedRecord:
    """A record that calls of a write created, or may have created.

    `given` are the ids in the answers to these calls; `ids` those under which a read showed it as this probing's own.
    `shown` is the number of the last sample that showed it, `gone` that of the call that took it away, if one did.
    """

    tool: str
    noun: str
    calls: list[Sample]
    marks: frozenset[str]
    answered_ids: set[Id] = field(default_factory=set)
    ids: set[Id] = field(default_factory=set)
    last_shown: int = 0
    removed_at: int = 0
    removed_by: str = ""

    @property
    def is_present(self) -> bool:
        """Whether it is there still, as far as answers tell."""
        return not self.removed_at or self.last_shown > self.removed_at


class Ledger:
    """All that a probing made, by its log, and the law of what it may send to a tool that writes."""

    def __init__(self, protocols: Mapping[str, ToolProtocol], log: Log) -> None:
        self._protocols = protocols
        self._log = log
        told = {name: likely_action(protocol) for name, protocol in protocols.items()}
        # What nothing is told of may make something, and is given nothing by which it would change what is there.
        self.kinds: dict[str, VerbKind] = {
            n: "create" if why == UNKNOWN_EFFECT else kind for n, (kind, why) in told.items()
        }
        self.writes = {
            n for n, p in protocols.items() if not is_known_read(p) and self.kinds[n] != "read"
        }  # sent marks only
        self._nouns = {name: tool_noun(protocol) for name, protocol in protocols.items()}
        self._words = {
            name: {noun, *nouns_of(protocols[name])} for name, noun in self._nouns.items()
        }
        self._made: list[CreatedRecord] = []
        self._met: dict[Id, int] = {}
        self._held: dict[str, set[str]] = {}
        self._single: set[str] = set()
        self.last: dict[str, str] = {}  # of each tool why a call was refused last
        self._values: dict[str, str | int] = {}
        self._last = self._count = 0
        self._mark: ProbeMarker | None = None

    @property
    def mark(self) -> ProbeMarker:
        """The probing's mark, which is drawn when it is first wanted."""
        self._mark = self._mark or ProbeMarker(self._log)
        return self._mark

    def created_records(self) -> list[CreatedRecord]:
        """All that was made, and what became of it, in the order in which it was."""
        self._read_new_samples()
        return self._made

    def marks_in(self, arguments: JsonObject) -> set[str]:
        """The texts among arguments that carry the mark."""
        return {
            part for _, part in _parts(arguments) if isinstance(part, str) and self.mark.is_in(part)
        }

    def creates_records(self, tool: str) -> bool:
        """Whether each call of a tool may make one more record."""
        return tool in self.writes and self.kinds[tool] in ("create", "update")

    def count_removable(self) -> int:
        """How many records are there still that a tool takes away."""
        removers = [tool for tool in self.writes if self.kinds[tool] == "remove"]
        return sum(
            one.is_present and any(self.can_delete(tool, one) for tool in removers)
            for one in self.created_records()
        )

    def can_delete(self, tool: str, made: CreatedRecord) -> bool:
        """Whether a tool may take away or change what was made: it is about the same, by its name or an argument."""
        nouns = {
            self.noun_of(tool, name)
            for name in self._protocols[tool].parameters
            if self.identifies_record(tool, name)
        }
        return any(is_same_noun(made.noun, noun) for noun in (*nouns, *self._words[tool]))

    def own_ids(
        self, tool: str, argument: str, *, of: CreatedRecord | None = None, born: bool = False
    ) -> list[str | int]:
        """Ids of this probing's own records that an argument may take, the latest first; `of`: of this one.

        `born`: also those that no read has shown yet.
        """
        noun = self.noun_of(tool, argument)
        wanted = [one for one in reversed(self.created_records()) if of in (None, one)]
        pairs = [pair for one in wanted for pair in sorted(one.ids | one.answered_ids)
                 if born or pair in one.ids or self.mark.is_in(pair[1])]  # fmt: skip
        by_id = snake(argument).rpartition("_")[2] in ID_WORDS
        found = sorted(
            (text for n, text in pairs if is_same_noun(n, noun)),
            key=lambda text: self.mark.is_in(text) == by_id,
        )
        return [
            self._values.get(text, text) for text in dict.fromkeys(found)
        ]  # sorting is stable: the latest first

    def refusal_reason(self, tool: str, arguments: JsonObject) -> str:
        """Why a call is not made, as it might change what is not this probing's own; empty where it may be."""
        if tool not in self.writes:
            return ""
        self._read_new_samples()
        judge = self._creation_refusal if self.kinds[tool] == "create" else self._change_refusal
        why = judge(tool, arguments)
        if why:
            self.last[tool] = why
        return why

    def identifies_record(self, tool: str, argument: str) -> bool:
        """Whether an argument says which record a call makes, changes or takes away."""
        word = singular(snake(argument))
        before, _, last = word.rpartition("_")
        if place_of(self._protocols[tool], argument) == "path":
            return True
        if not (last in _NAMES or last in ID_WORDS or word in VAGUE):
            return False
        return (
            self.kinds[tool] == "remove"
            or not before
            or is_same_noun(singular(before), self._nouns[tool])
        )

    def is_reference(self, tool: str, argument: str) -> bool:
        """Whether an argument's values are ids: it ends as ids do, or is called as what other tools are about."""
        word = snake(argument)
        mine = self._nouns[tool]
        return word.rpartition("_")[2] in ID_WORDS or any(
            word == noun != mine for noun in self._nouns.values()
        )

    def identifying_arguments(self, tool: str) -> list[str]:
        """The arguments without which a record would get a name that others may have."""
        names = self._protocols[tool].parameters
        return [
            name
            for name in names
            if self.identifies_record(tool, name) and snake(name) not in _UNNAMED
        ]

    def _creation_refusal(self, tool: str, arguments: JsonObject) -> str:
        if self._is_fixed(tool) and any(self._same_address(read, tool) for read in self._single):
            return "a read of the same address shows one record, which it would write over"
        for name in self.identifying_arguments(tool):
            if name not in arguments:
                return f"without {name!r} it might write over what is there"
        known = False
        for name, value in arguments.items():
            for key, part in scalar_parts(name, value):
                if self.belongs_to_probe(tool, key, part, born=True):
                    known = known or (part is not None and not isinstance(part, bool))
                elif self.identifies_record(tool, name) or (
                    key != name and self.identifies_record(tool, key)
                ):
                    return f"{key!r} would not carry this probing's mark, and might be that of what is there"
                elif snake(key).rpartition("_")[2] in ID_WORDS:
                    known = True
                    if part not in self._listed_values(tool, name) and self.exists_already(
                        tool, key, part
                    ):
                        return f"a read shows {key!r} of this value already"
        answers = any(
            one.answered_ids for one in self._made if one.tool == tool
        )  # with an id, by which it is known as well
        if not known and not answers and self._protocols[tool].parameters.keys() - arguments.keys():
            return "nothing in it would carry this probing's mark"
        # Of a record that nothing tells from others, any value may be the one by which it is found and written over.
        if not known and (
            held := next(
                (key for key, part in _parts(arguments) if self.exists_already(tool, key, part)), ""
            )
        ):
            return (
                f"nothing in it carries the mark, and a read shows {held!r} of this value already"
            )
        return ""

    def _change_refusal(self, tool: str, arguments: JsonObject) -> str:
        mine = 0
        for name, value in arguments.items():
            for key, part in scalar_parts(name, value):
                names_it = self.identifies_record(tool, name) or (
                    key != name and self.identifies_record(tool, key)
                )
                text = (
                    self.kinds[tool] == "remove"
                    and isinstance(part, str)
                    and part not in self._listed_values(tool, name)
                )
                if (names_it or text) and not self.belongs_to_probe(tool, key, part):
                    return f"{key!r} is of nothing that was shown to carry this probing's mark"
                new = self._is_fixed(tool) and not self._is_created_id(
                    tool, key, part
                )  # `PUT /profile` renames somebody
                mine += (
                    not self.is_filter(tool, name)
                    and not new
                    and (names_it or (text and isinstance(value, list)))
                )
        return (
            ""
            if mine
            else "it is not told which record is meant, so it might be one that was there before"
        )

    def _is_fixed(self, tool: str) -> bool:
        return "{" not in getattr(self._protocols[tool].binding, "url", "{")

    def is_filter(self, tool: str, argument: str) -> bool:
        """Whether an argument only narrows what a call is about: a service that knows no such filter takes all."""
        protocol = self._protocols[tool]
        return (
            place_of(protocol, argument) in ("query", "header", "cookie")
            and argument not in protocol.required
        )

    def belongs_to_probe(
        self, tool: str, argument: str, value: Json, *, born: bool = False
    ) -> bool:
        """Whether a value carries the mark, or is the id of a record of this probing's own; `born`: or may be.

        A flag and null are nobody's, but where a record is named: `int(True)` is the record 1.
        """
        if isinstance(value, Mapping | list):
            return all(
                self.belongs_to_probe(tool, key, part, born=born)
                for key, part in scalar_parts(argument, value)
            )
        plain = (isinstance(value, bool) or value is None) and not self.identifies_record(
            tool, argument
        )
        return (
            plain or self.mark.is_in(value) or self._is_created_id(tool, argument, value, born=born)
        )

    def _is_created_id(self, tool: str, argument: str, value: Json, *, born: bool = False) -> bool:
        noun = self.noun_of(tool, argument)
        text = url_text(value)
        known = (
            pair for one in self._made for pair in (one.ids | one.answered_ids if born else one.ids)
        )
        return any(text == other and is_same_noun(n, noun) for n, other in known)

    def exists_already(self, tool: str, key: str, value: Json) -> bool:
        """Whether a read of what a tool makes holds a value that no call put there."""
        if any(
            (key, value) in _parts(call.plain_arguments)
            for made in self._made
            for call in made.calls
        ):
            return False
        text = value if isinstance(value, str) else f"{snake(key)}={url_text(value)}"
        return any(text in held for read, held in self._held.items() if self.is_about(read, tool))

    def is_about(self, read: str, write: str) -> bool:
        """Whether a read shows what a write makes, by their addresses or by their names."""
        return is_same_noun(self._nouns[read], self._nouns[write]) or self._same_address(
            read, write
        )

    def noun_of(self, tool: str, argument: str) -> str:
        """What an argument's value is an id of."""
        protocol = self._protocols[tool]
        word = snake(argument)
        before, _, last = word.rpartition("_")
        if before and (last in ID_WORDS or singular(last) in ID_WORDS):
            return singular(before)
        if place_of(protocol, argument) == "path" and isinstance(protocol.binding, HttpBinding):
            parts = path_parts(protocol.binding)
            wire = protocol.binding.wire_names.get(argument, argument)
            place = next((n for n, part in enumerate(parts) if f"{{{wire}}}" in part), 0)
            if place and "{" not in parts[place - 1]:
                return singular(snake(parts[place - 1]))
        return self._nouns[tool]

    def _same_address(self, one: str, other: str) -> bool:
        mine = self._protocols[one].binding
        its = self._protocols[other].binding
        return (
            isinstance(mine, HttpBinding)
            and isinstance(its, HttpBinding)
            and path_parts(mine) == path_parts(its)
        )

    def _listed_values(self, tool: str, argument: str) -> list[Json]:
        """The values that an argument's schema lists."""
        schema = self._protocols[tool].parameters.get(argument, {})
        return [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]

    def _read_new_samples(self) -> None:
        """Take in the samples that came since."""
        if len(self._log.samples) == self._count:
            return
        self._count = len(self._log.samples)
        new = [sample for sample in self._log.samples if sample.number > self._last]
        for sample in sorted(new, key=lambda s: s.number):
            self._last = sample.number
            if sample.tool not in self._protocols:
                continue
            if sample.tool in self.writes and not (sample.done and refusal_in(sample.response)):
                if self.kinds[sample.tool] != "remove":
                    self._read_write(sample)
                elif sample.done:
                    self._read_removal(sample)
            if sample.done:
                self._read_answer(sample)

    def _read_write(self, sample: Sample) -> None:
        tool = sample.tool
        noun = self._nouns[sample.tool]
        updates = self.kinds[sample.tool] == "update"
        named = [
            (key, part)
            for key, part in _parts(sample.plain_arguments)
            if self.identifies_record(tool, key)
        ]
        own = self._ids_in_answer(sample)
        known = {
            text
            for one in self._made
            if one.is_present
            for n, text in one.ids
            if is_same_noun(n, noun)
        }
        of_known = (
            named
            and {url_text(part) for _, part in named} <= known
            and not {text for _, text in own} - known
        )
        foreign = any(
            not self.mark.is_in(part) and is_same_noun(self.noun_of(tool, key), noun)
            for key, part in named
        )
        if not self._may_have_acted(sample) or (updates and (of_known or foreign)):
            return  # it did nothing, or changed a record that is known already
        given = {one for one in own if self._met.get(one, sample.number) >= sample.number}
        key = self._identity_key(sample)
        for one in self._made:
            same = one.answered_ids & own or (
                not given
                and not one.answered_ids
                and key
                and key == self._identity_key(one.calls[0])
            )
            if one.is_present and one.noun == noun and same:
                one.calls.append(sample)
                return
        made = CreatedRecord(
            tool=tool,
            noun=noun,
            calls=[sample],
            marks=frozenset(self.marks_in(sample.plain_arguments)),
            answered_ids=given,
        )
        for word, part in named:
            taken = updates and url_text(part) in known
            if part is not None and not taken and self.belongs_to_probe(tool, word, part):
                made.ids.add(
                    (noun if self.mark.is_in(part) else self.noun_of(tool, word), url_text(part))
                )
        self._made.append(made)

    def _may_have_acted(self, sample: Sample) -> bool:
        """Whether a call may have done something: it was done, or nobody knows."""
        binding = self._protocols[sample.tool].binding
        said_no = isinstance(binding, PythonBinding) or (
            sample.answer is not None and not isinstance(binding, HttpBinding)
        )
        broken = sample.outcome == "unknown" and sample.status not in (409, 425, 429)
        return sample.done or (broken and not said_no)

    def _ids_in_answer(self, sample: Sample) -> set[Id]:
        """The ids of a thing itself in the answer of the call that made it."""
        noun = self._nouns[sample.tool]
        sent = {url_text(part) for _, part in _parts(sample.plain_arguments)}
        found = records(sample.response if sample.done else None, top=True)
        ids = {
            one
            for record, around in found
            for one in self._record_ids(record, {noun, around}, noun)
        }
        return {one for one in ids if one[1] not in sent}

    def _identity_key(self, sample: Sample) -> frozenset[str]:
        parts = [
            pair
            for pair in _parts(sample.plain_arguments)
            if self.identifies_record(sample.tool, pair[0])
        ]
        ids = [pair for pair in parts if snake(pair[0]).rpartition("_")[2] in ID_WORDS]
        return frozenset(url_text(part) for _, part in ids or parts)

    def _read_removal(self, sample: Sample) -> None:
        # Of `DELETE /buckets/{bucket_id}/records/{id}` the record is gone, and the bucket that it stood in is not.
        parts = [
            (k, p)
            for n, v in sample.plain_arguments.items()
            if not self._is_parent(sample.tool, n)
            for k, p in scalar_parts(n, v)
        ]
        texts = {(self.noun_of(sample.tool, key), url_text(part)) for key, part in parts}
        for one in self._made:
            sent = [
                pair
                for call in one.calls
                for pair in _parts(call.plain_arguments)
                if self._is_parent(one.tool, pair[0])
            ]
            within = {
                (self.noun_of(one.tool, key), url_text(part)) for key, part in sent
            }  # with which it is gone, too
            known = one.ids | one.answered_ids | within
            hit = any(
                text == here and is_same_noun(n, noun) for n, here in known for noun, text in texts
            )
            named = (
                not one.ids
                and one.marks & {text for _, text in texts}
                and self.can_delete(sample.tool, one)
            )
            if one.is_present and (hit or named):
                one.removed_at = sample.number
                one.removed_by = sample.tool

    def _is_parent(self, tool: str, argument: str) -> bool:
        """Whether an argument says in what a thing stands: its place in the path is not the last."""
        protocol = self._protocols[tool]
        last = (
            path_parts(protocol.binding)[-1:] if isinstance(protocol.binding, HttpBinding) else []
        )
        wire = (
            protocol.binding.wire_names.get(argument, argument)
            if isinstance(protocol.binding, HttpBinding)
            else ""
        )
        return place_of(protocol, argument) == "path" and not any(
            f"{{{wire}}}" in part for part in last
        )

    def _read_answer(self, sample: Sample) -> None:
        tool = sample.tool
        shows = sample.tool not in self.writes
        if shows:
            single = isinstance(sample.response, Mapping) and not has_list(sample.response)
            (self._single.add if single and sample.response else self._single.discard)(tool)
        held = self._held.setdefault(tool, set())
        for record, around in records(sample.response):
            if shows and self._made:
                self._recognise(record, around, sample)
            for word, value in id_fields(record):
                before = singular(word.rpartition("_")[0])
                for noun in {before} if before else {self._nouns[tool], around} - {""}:
                    self._met.setdefault((noun, url_text(value)), sample.number)
            for name, value in record.items() if shows else ():
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, str | int):
                        held.add(
                            part if isinstance(part, str) else f"{snake(name)}={url_text(part)}"
                        )

    def _recognise(self, record: JsonObject, around: str, sample: Sample) -> None:
        """Note which of our records a read shows, and under which id."""
        before = sorted(
            (one for one in self._made if one.calls[0].number < sample.number),
            key=lambda one: one.removed_at > 0,
        )
        nouns = {self._nouns[sample.tool], around}
        known = [
            one
            for one in before
            if (one.ids | one.answered_ids).intersection(self._record_ids(record, nouns, one.noun))
        ]
        for made in known[:1] or before:
            found, is_it = self._match_record(made, record, nouns)
            if known or (is_it and not made.answered_ids):
                made.ids |= found if is_it else set()
                made.last_shown = sample.number
                return
        same = [one for one in before if any(is_same_noun(noun, one.noun) for noun in nouns)]
        if (
            same
            and all(one.removed_at for one in same)
            and self.mark.token in json.dumps(record).lower()
        ):
            same[-1].last_shown = sample.number  # under another name, or in another form

    def _match_record(
        self, made: CreatedRecord, record: JsonObject, nouns: Collection[str]
    ) -> tuple[set[Id], bool]:
        """The ids of a record, and whether it is what these calls made."""
        begun = made.calls[0].number
        mine = {url_text(part) for call in made.calls for _, part in _parts(call.plain_arguments)}
        found = {one for one in self._record_ids(record, nouns, made.noun)
                 if self._met.get(one, begun) >= begun and (one[1] not in mine or self.mark.is_in(one[1]))}  # fmt: skip
        names = {snake(name): value for name, value in record.items()}
        held = any(self.mark.is_in(value) for value in record.values())
        for sent in (one for call in made.calls for one, _ in records(call.plain_arguments)):
            common = {n: v for n, v in ((snake(n), v) for n, v in sent.items()) if n in names}
            equal = [v for n, v in common.items() if url_text(names[n]) == url_text(v)]
            marked = any(map(self.mark.is_in, equal))
            if not made.answered_ids and marked:
                return found, True
            if found & made.answered_ids and (
                marked or held or (equal and len(equal) == len(common))
            ):
                return found & made.answered_ids, True
        return set(), False

    def _record_ids(self, record: JsonObject, nouns: Collection[str], noun: str) -> Iterator[Id]:
        """The ids of a record itself, under the noun of what was made; not those by which it points to others."""
        fields = [(singular(word.rpartition("_")[0]), value) for word, value in id_fields(record)]
        its = [
            (before, value)
            for before, value in fields
            if not before or any(is_same_noun(before, n) for n in nouns)
        ]
        for before, value in its or fields:
            if is_same_noun(before, noun) if before else any(is_same_noun(n, noun) for n in nouns):
                self._values[url_text(value)] = value
                yield noun, url_text(value)


def _parts(arguments: JsonObject) -> list[tuple[str, Json]]:
    return [pair for name, value in arguments.items() for pair in scalar_parts(name, value)]


def tool_noun(protocol: ToolProtocol) -> str:
    """What a tool is about: `comment` for `add_comment_to_note` and for `POST /notes/{id}/comments`."""
    parts = path_parts(protocol.binding) if isinstance(protocol.binding, HttpBinding) else []
    if fixed := [snake(part) for part in parts if part and "{" not in part]:
        for part in reversed(fixed):
            words = part.split("_")
            if words := words[kind_of_word(words[0]) is not None :]:
                return singular("_".join(words))
        return singular(fixed[-1])
    return next(iter(nouns_of(protocol)[::-1]), "")


def nouns_of(protocol: ToolProtocol) -> list[str]:
    """The nouns of a tool's name up to the first preposition, singular."""
    words = snake(protocol.name).split("_")
    end = next((n for n, word in enumerate(words) if word in _PREPOSITIONS and n), len(words))
    verb = next((n for n, word in enumerate(words[:end]) if kind_of_word(word)), -1)
    return [singular(word) for n, word in enumerate(words[:end]) if n != verb]


def is_same_noun(one: str, other: str) -> bool:
    """Whether two nouns mean the same: `alert` and `storm_alert`."""
    return bool(one and other) and (
        one == other or one.endswith(f"_{other}") or other.endswith(f"_{one}")
    )


def records(node: Json, around: str = "", *, top: bool = False) -> Iterator[tuple[JsonObject, str]]:
    """The objects in a value and the noun that each stands under, what a wrapper such as `data` holds with them.

    `top`: none of those in lists.
    """
    if isinstance(node, list):
        for part in node if not top or len(node) == 1 else ():
            yield from records(part, around, top=top)
    elif isinstance(node, Mapping):
        inner = [
            node[k]
            for k in ("attributes", "data", "fields", "properties")
            if isinstance(node.get(k), Mapping)
        ]
        yield {k: v for part in [*inner, node] for k, v in part.items()}, around
        for name, part in node.items():
            if isinstance(part, Mapping | list):
                word = snake(str(name))
                yield from records(part, around if word in WRAPPERS else singular(word), top=top)


def id_fields(record: JsonObject) -> Iterator[tuple[str, str | int]]:
    """The fields of a record that hold ids."""
    for name, value in record.items():
        word = snake(str(name))
        if (
            isinstance(value, str | int)
            and not isinstance(value, bool)
            and word.rpartition("_")[2] in ID_WORDS
        ):
            yield word, value


def has_list(node: Json) -> bool:
    """Whether there is a list in a value."""
    return isinstance(node, list) or (
        isinstance(node, Mapping) and any(map(has_list, node.values()))
    )


def path_parts(http: HttpBinding) -> list[str]:
    """The parts of a URL's path."""
    return http.url.partition("?")[0].rstrip("/").split("/")[3:]
