"""Of what the ids in each tool's answers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from probing.sample import Sample
from protocols.id_names import field_key
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.vocabulary import ID_WORDS

_MOST = 200_000  # places in one response


class Firsts:
    """The nouns of the ids in the answers of each tool: `line` where they have a `line_id`."""

    def __init__(self) -> None:
        self.identified: dict[str, set[str]] = {}
        self._known: set[tuple[str, str]] = set()
        self._taken = 0

    def take(self, samples: list[Sample], protocols: Mapping[str, ToolProtocol]) -> None:
        """Take in samples, in the order of their numbers; those taken before are left out."""
        for sample in samples:
            if sample.number <= self._taken:
                continue
            self._taken = sample.number
            for path in _places(sample.response if sample.done else None):
                if (sample.tool, path) not in self._known:
                    self._known.add((sample.tool, path))
                    noun, _, last = (field_key(protocols[sample.tool], path) or "").rpartition("_")
                    if noun and last in ID_WORDS:
                        self.identified.setdefault(sample.tool, set()).add(noun)


def _places(value: Json) -> Iterator[str]:
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
            yield path
