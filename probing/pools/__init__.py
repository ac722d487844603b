"""Values that tools gave and took, by place, and which of them may suit an argument (paper, §4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from probing.combine import argument_place
from probing.effects.words import kind_of
from probing.facts import ArgumentFacts, says_something
from probing.naming import KEYS, Name, argument_name, field_name, words_of
from probing.pools.harvest import harvest
from probing.pools.place import Place, last_segment, scalars
from probing.pools.rank import ranked
from probing.pools.texts import OF_FILES, is_file, said_in, texts_in
from probing.sample import Origin, Sample, Value
from probing.shape import text_of
from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, ToolProtocol

_FILE_WORDS = frozenset({"dest", "destination", "file", "filename", "filepath", "files", "path", "paths"})
_MOST_KEYS = 100


class Pools:
    """All values of the responses so far, each with the place that it came from.

    A *place* is a path in a tool's responses (`airports[].code`), or an argument with which a tool answered. `*` stands
    in a path for any key of a map keyed by data, `{}` for the keys themselves.
    """

    def __init__(self, protocols: Iterable[ToolProtocol]) -> None:
        self.protocols: Mapping[str, ToolProtocol] = {protocol.name: protocol for protocol in protocols}
        self._places: dict[tuple[str, str], Place] = {}
        self._derived: dict[tuple[str, str], Place] = {}
        self._where: dict[str, dict[tuple[str, str], None]] = {}
        self._added: set[tuple[str, int]] = set()
        arguments = (words_of(name) for protocol in self.protocols.values() for name in protocol.parameters)
        self._takes_files = any(set(name.split("_")) & _FILE_WORDS for name in arguments)
        self._keys: dict[str, dict[str, Value]] = {}

    @property
    def places(self) -> Iterator[Place]:
        """The places in responses."""
        return (place for place in self._places.values() if not place.argument)

    @property
    def taken(self) -> Iterator[Place]:
        """The arguments with which tools answered."""
        return (place for place in self._places.values() if place.argument)

    def add(self, sample: Sample) -> None:
        """Take the values of a call that is done; a second time changes nothing."""
        protocol = self.protocols.get(sample.tool)
        if not sample.done or protocol is None or (sample.tool, sample.number) in self._added:
            return
        self._added.add((sample.tool, sample.number))
        if isinstance(protocol.binding, HttpBinding) and isinstance(sample.response, Mapping):
            keys = self._keys.setdefault(protocol.binding.url, {})
            for key in islice(sample.response, _MOST_KEYS):
                keys.setdefault(str(key), Value(str(key), _origin(sample, KEYS)))
        self._take_response(protocol, sample)
        # What a tool made may be asked for by what it was given, although it answered nothing.
        told = says_something(sample.response) or kind_of(protocol)[0] == "create"
        if told and sample.purpose != "refuse":
            self._take_arguments(protocol, sample)

    def find(self, protocol: ToolProtocol, argument: ArgumentFacts) -> Iterator[Value]:
        """Values that may suit an argument, best first; not all of them need fit what it is known to take."""
        return (value for _, value in self.ranked(protocol, argument))

    def ranked(self, protocol: ToolProtocol, argument: ArgumentFacts) -> Iterator[tuple[float, Value]]:
        """The same with how far each value is from a sure one: 0 is the value of a place of the same name."""
        return ranked([*self._places.values(), *self._derived.values()], protocol, argument, self.popularity)

    def above(self, protocol: ToolProtocol, argument: ArgumentFacts) -> Iterator[Value]:
        """The keys of what is one step above: `/config` answers `{"cpu": …}`, so `/config/{section}` may take `cpu`."""
        binding = protocol.binding
        if isinstance(binding, HttpBinding):
            step = f"/{{{binding.wire_names.get(argument.name, argument.name)}}}"
            if binding.url.endswith(step):
                yield from self._keys.get(binding.url.removesuffix(step), {}).values()

    def where(self, value: Json) -> list[tuple[str, str]]:
        """The places (tool, path) in responses that held a value; `5` and `"5"` are one."""
        return list(self._where.get(text_of(value), ()))

    def popularity(self, value: Json) -> int:
        """How many places yield a value by themselves: what many tools know of, a tool is more likely to answer for."""
        return sum(not self._places[place].echoes for place in self._where.get(text_of(value), ()))

    def place(self, tool: str, path: str) -> Place | None:
        """What is known of one place."""
        return self._places.get((tool, path))

    def _take_response(self, protocol: ToolProtocol, sample: Sample) -> None:
        sent = {text.lower() for given in sample.arguments.values() for text in map(text_of, scalars(given.value))}
        nonsense = _nonsense(sample)
        for path, value, secret in harvest(sample.response, protocol.output_schema):
            if isinstance(value, str) and value in nonsense:
                continue
            place = self._place(protocol, path)
            place.keep(Value(value, _origin(sample, path)), secret=secret, sent=sent)
            self._where.setdefault(text_of(value), {})[sample.tool, path] = None
            if not isinstance(value, str) or secret:
                continue
            if (segment := last_segment(value)) is not None:
                noun, last = segment
                self._link(protocol, path, noun).keep(Value(last, _origin(sample, path, kind="generated")), sent=sent)
            for noun in OF_FILES if self._takes_files and is_file(value) else ():
                self._say(protocol, sample, path, noun, value)
        for path, text in texts_in(sample.response):
            for noun, said in said_in(text):
                if said not in nonsense:
                    self._say(protocol, sample, path, noun, said)

    def _take_arguments(self, protocol: ToolProtocol, sample: Sample) -> None:
        for name, given in sample.arguments.items():
            tool, path = argument_place(sample.tool, name)
            place = self._places.get((tool, path))
            if place is None:
                place = self._places[tool, path] = Place(tool, path, argument_name(protocol, name), argument=True)
            for value in scalars(given.value):
                place.keep(Value(value, _origin(sample, path)))

    def _place(self, protocol: ToolProtocol, path: str) -> Place:
        key = (protocol.name, path)
        if key not in self._places:
            self._places[key] = Place(*key, field_name(protocol, path))
        return self._places[key]

    def _say(self, protocol: ToolProtocol, sample: Sample, path: str, noun: str, said: str) -> None:
        """Keep what a text says under a noun; no program can follow it."""
        key = (protocol.name, f"{path}\n{noun}")
        if key not in self._derived:
            self._derived[key] = Place(protocol.name, path, Name(noun, noun), told=True)
        self._derived[key].keep(Value(said, _origin(sample, path, kind="generated")))

    def _link(self, protocol: ToolProtocol, path: str, noun: str) -> Place:
        key = (protocol.name, f"{path} {noun}")
        if key not in self._derived:
            self._derived[key] = Place(protocol.name, path, Name("id", f"{noun}_id"))
        return self._derived[key]


def _nonsense(sample: Sample) -> set[str]:
    """Texts that were made up for a call: where its response repeats them, they are still nobody's."""
    made_up = (given.value for given in sample.arguments.values() if given.origin == Origin(kind="generated"))
    return {text for value in made_up for text in scalars(value) if isinstance(text, str)}


def _origin(sample: Sample, path: str, *, kind: str = "response") -> Origin:
    return Origin(kind=kind, tool=sample.tool, path=path, sample=sample.number)  # type: ignore[arg-type]


__all__ = ["Place", "Pools"]
