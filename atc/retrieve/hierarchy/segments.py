"""The second rival of AnyTool (§5.2, A.5): segments of a text of all APIs, found by embedding, read by a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.hierarchy.functions import name_schema
from atc.retrieve.hierarchy.listing import groups, plain, within
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.prompts import fill
from atc.retrieve.hierarchy.room import Room
from atc.retrieve.hierarchy.tree import Hierarchy, spelled
from atc.retrieve.tally import Tally
from protocols.ask import Ask, Message
from protocols.jsontypes import JsonObject

if TYPE_CHECKING:
    from atc.retrieve.base import Floats

_REPLY_TOKENS = 800
_MOST_PICKED = 20


class _Segment(NamedTuple):
    names: tuple[str, ...]
    text: str


class SegmentRetriever:
    """A `Retriever`: the nearest segments to a query, and the APIs that a model picks out of them, in its order.

    Category, tool, name and description of every API make one text. It is cut between two APIs into segments of at most
    `segment_tokens`, or of half a prompt where that is less. An embedder reads a segment only as far as its own window
    goes, as in the paper, whose model reads 384 tokens. At most `segments` are shown, fewer where they do not fit three
    quarters of a prompt. They are embedded at the first search.

    Raises:
        ValueError: there would be no segments, or none of any length.
    """

    def __init__(
        self,
        documents: Mapping[str, ToolDocument],
        ask: Ask,
        embedder: Embedder,
        *,
        segments: int = 5,
        segment_tokens: int = 1000,
        options: Options = Options(),  # noqa: B008
    ) -> None:
        self._documents, self._ask, self._embedder = documents, ask, embedder
        if segments < 1 or segment_tokens < 1:
            raise ValueError(f"segments and their tokens must be at least 1, not {segments} and {segment_tokens}")
        self._most = segments
        self._options = options
        self._room = options.prompt_tokens or ask.prompt_tokens
        self._size = max(1, min(segment_tokens, self._room // 2))
        self._lock = threading.Lock()
        self._held: tuple[list[_Segment], Floats] | None = None

    def search(self, query: str, *, k: int) -> Retrieval:
        """The first `k` APIs that the model picked, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer.
            RetrievalUnavailable: the embedding model cannot be had.
        """
        query = within(query, room=Room.of(self._room).request)
        segments = self._nearest(query)
        if not segments:
            return Retrieval(hits=())
        names = [name for segment in segments for name in segment.names]
        messages = [
            Message("system", fill("segments")),
            Message("user", fill("task", listing="\n".join(segment.text for segment in segments), query=query)),
        ]
        ask = Tally(self._ask)
        reply = ask(messages, schema=_schema(names), max_tokens=_REPLY_TOKENS)
        picked = _picked(reply.text, names)[: self._options.pool]
        transcript = [
            *(f"segment of {len(one.names)} APIs: {one.names[0]} … {one.names[-1]}" for one in segments),
            f"picked: {', '.join(picked) or 'none'}",
        ]
        hits = tuple(Hit(name, 1 / (rank + 1)) for rank, name in enumerate(picked[:k]))
        return Retrieval(hits=hits, transcript=tuple(transcript), usage=ask.usage)

    def load(self) -> None:
        """Cut and embed the segments now."""
        with self._lock:
            if self._held is None:
                segments = list(self._cut())
                self._held = segments, self._embedder.documents([segment.text for segment in segments])

    def _nearest(self, query: str) -> list[_Segment]:
        """The segments whose vectors are nearest to the query's, as many as are shown."""
        self.load()
        assert self._held is not None  # load has set it
        segments, vectors = self._held
        if not segments:
            return []
        scores = vectors @ self._embedder.queries([query])[0]
        order = sorted(range(len(segments)), key=lambda at: (-float(scores[at]), at))
        fitting = max(1, self._room * 3 // 4 // self._size)
        return [segments[at] for at in order[: min(self._most, fitting)]]

    def _cut(self) -> list[_Segment]:
        hierarchy = Hierarchy.of(self._documents)
        names = hierarchy.apis(hierarchy.places())
        lines = [within(_line(self._documents[name]), room=self._size) for name in names]
        return [_Segment(*group) for group in groups(names, lines, room=self._size)]


def _line(document: ToolDocument) -> str:
    above = " / ".join(filter(None, (document.category, document.collection)))
    said = plain(document.description)
    return " ".join(filter(None, [f"- {document.name}", f"({above})" if above else "", f": {said}" if said else ""]))


def _schema(names: Sequence[str]) -> JsonObject:
    return {
        "type": "object",
        "properties": {"apis": {"type": "array", "items": name_schema(names), "maxItems": _MOST_PICKED}},
        "required": ["apis"],
        "additionalProperties": False,
    }


def _picked(text: str, names: Sequence[str]) -> list[str]:
    """The names of a reply that are there, each once; none of a reply that cannot be read."""
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        return []
    apis = reply.get("apis") if isinstance(reply, dict) else None
    found = [spelled(name, names) for name in apis if isinstance(name, str)] if isinstance(apis, list) else []
    return list(dict.fromkeys(name for name in found if name is not None))
