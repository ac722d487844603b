"""What models are asked to write about tools beside synthetic queries, for `blend`: facets and contrasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from atc.prompts import fill_from
from atc.retrieve.base import Ranker
from atc.retrieve.document import ToolDocument, vector_text
from atc.retrieve.expand import Kind, shown
from atc.retrieve.prompts import fill as example
from protocols.ask import Message

fill = partial(fill_from, "benchmarks.retrieval.prompts")
_FACETS = ("question", "command", "situation", "problem", "detailed", "beginner", "keywords")
FACETS = Kind("facets", _FACETS, max_tokens=700, fill=fill)  # seven messages of fixed sorts


@dataclass(frozen=True)
class Contrast(Kind):
    """What only this tool does, written against its nearest neighbours; kept when a neighbour changes."""

    name: str = "contrast"
    keys: tuple[str, ...] = ("only", "first", "second", "third")
    max_tokens: int = 400
    fill: Callable[..., str] = fill
    near: Callable[[ToolDocument], Sequence[ToolDocument]] = lambda _: ()
    """The documents that are most easily taken for one."""

    def messages(self, document: ToolDocument) -> list[Message]:
        """The prompt for a document, with its neighbours."""
        others = "\n".join(map(shown, self.near(document)))
        return [*self.opening(), Message("user", fill("expand_others", tool=shown(document), others=others))]

    def opening(self, tool: str = "") -> list[Message]:
        """The same with the example's neighbours."""
        others = fill("expand_example_others")
        return super().opening(tool or fill("expand_others", tool=example("expand_example_tool"), others=others))


def neighbours(documents: Sequence[ToolDocument], ranker: Ranker) -> Callable[[ToolDocument], list[ToolDocument]]:
    """Gives the three documents that `ranker` finds nearest to a document, itself left out."""
    by_name = {document.name: document for document in documents}

    def near(document: ToolDocument) -> list[ToolDocument]:
        (found,) = ranker.top([vector_text(document)], n=4)
        names = [ranker.names[position] for position in found.positions.tolist()]
        return [by_name[name] for name in names if name != document.name and name in by_name][:3]

    return near
