"""When each value was first met: an id that came first in the answer to our own write is of a thing that it made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from probing.sample import Sample
from protocols.id_names import argument_key, field_key
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.vocabulary import ID_WORDS

_MOST = 200_000  # scalars of one response
_DISTINCTIVE = 6  # characters of a text that is hardly met twice by chance


class Firsts:
    """The number of the sample in which each value was first given or answered, by what its place is called."""

    def __init__(self) -> None:
        self._anywhere: dict[str, float] = {}
        self._named: dict[tuple[str, str | None], float] = {}
        self._keys: dict[tuple[str, str], str | None] = {}
        self._taken = 0
        self.identified: dict[str, set[str]] = {}
        """Of each tool, the nouns of the ids in its answers: `line` where they have a `line_id`."""

    def take(self, samples: list[Sample], protocols: Mapping[str, ToolProtocol]) -> None:
        """Take in samples, in the order of their numbers; those taken before are left out."""
        for sample in samples:
            if sample.number <= self._taken:
                continue
            self._taken = sample.number
            protocol = protocols[sample.tool]
            for name, value in sample.plain.items():  # what is given is known before the answer comes
                self._add(value, argument_key(protocol, name), sample.number - 0.5)
            for path, value in _scalars(sample.response if sample.done else None):
                key = (sample.tool, path)
                if key not in self._keys:
                    self._keys[key] = found = field_key(protocol, path)
                    noun, _, last = (found or "").rpartition("_")
                    if noun and last in ID_WORDS:
                        self.identified.setdefault(sample.tool, set()).add(noun)
                self._add(value, self._keys[key], sample.number)

    def is_new(self, value: Json, key: str | None, sample: Sample) -> bool:
        """Whether `value` was met first in the answer of `sample`; a short one, under a name that means `key`.

        A name that means nothing may mean anything, and so speaks against it too.
        """
        text = _text(value)
        if key is None or (isinstance(value, str) and len(value) >= _DISTINCTIVE):
            return self._anywhere.get(text, 0) >= sample.number
        return min(self._named.get((text, key), 1e12), self._named.get((text, None), 1e12)) >= sample.number

    def _add(self, value: Json, key: str | None, number: float) -> None:
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = _text(value)
            self._anywhere.setdefault(text, number)
            self._named.setdefault((text, key), number)


def _scalars(value: Json) -> Iterator[tuple[str, Json]]:
    left: list[tuple[str, Json]] = [("", value)]
    for _ in range(_MOST):
        if not left:
            return
        path, node = left.pop()
        if isinstance(node, Mapping):
            left += [(f"{path}.{name}".lstrip("."), part) for name, part in node.items()]
        elif isinstance(node, list):
            left += [(f"{path}[]", part) for part in node]
        else:
            yield path, node


def _text(value: Json) -> str:
    return f"{type(value).__name__} {value}"
