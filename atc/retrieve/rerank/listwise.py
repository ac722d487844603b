"""Listwise re-ranking: a language model names the best of what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_uppercase

from atc.retrieve.base import Hit, Retrieval, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.rerank.prompts import fill
from atc.retrieve.tally import Tally
from protocols.abridge import clipped
from protocols.ask import Ask, Message
from protocols.jsontypes import JsonObject

_QUERY_CHARACTERS = 4000
_TOOL_CHARACTERS = 240
_CHOSEN = 3
_MAX_TOKENS = 40


@dataclass(frozen=True, kw_only=True)
class Listwise:
    """Finds by `retriever` and lets a model choose, by letter, up to three of the first `candidates` (at most 26).

    Those chosen stand first, the others follow in their order. The scores of the result are the retriever's, handed
    out anew from the top. A reply without a letter changes nothing, and the transcript says so.
    """

    retriever: Retriever
    documents: Mapping[str, ToolDocument]
    ask: Ask
    candidates: int = 10

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model gave no reply.
        """
        found = self.retriever.search(query, k=max(k, self.candidates))
        offered = dict(zip(ascii_uppercase, found.hits[: self.candidates], strict=False))
        if len(offered) < 2:
            return replace(found, hits=found.hits[:k])
        ask = Tally(self.ask, found.usage)
        reply = ask(self._messages(query, offered), schema=_schema(offered), max_tokens=_MAX_TOKENS)
        chosen = [offered[letter] for letter in _letters(reply.text) if letter in offered]
        note = (
            f"the model chose {', '.join(hit.tool for hit in chosen)}" if chosen else "the model chose none: order kept"
        )
        order = [*chosen, *(hit for hit in found.hits if hit not in chosen)]
        hits = [replace(hit, score=at.score) for hit, at in zip(order, found.hits, strict=True)]
        return Retrieval(hits=tuple(hits[:k]), transcript=(*found.transcript, note), usage=ask.usage)

    def _messages(self, query: str, offered: Mapping[str, Hit]) -> list[Message]:
        lines = [f"{letter}. {self._line(hit.tool)}" for letter, hit in offered.items()]
        asked = fill("tools", tools="\n".join(lines), query=clipped(query.strip(), _QUERY_CHARACTERS))
        return [Message("system", fill("choose")), Message("user", asked)]

    def _line(self, name: str) -> str:
        document = self.documents[name]
        return clipped(" ".join(f"{name}: {document.description or document.title}".split()), _TOOL_CHARACTERS)


def _schema(offered: Mapping[str, Hit]) -> JsonObject:
    letter = {"type": "string", "enum": list(offered)}
    best = {"type": "array", "items": letter, "minItems": 1, "maxItems": _CHOSEN}
    return {"type": "object", "properties": {"best": best}, "required": ["best"], "additionalProperties": False}


def _letters(reply: str) -> list[str]:
    """The letters of a reply, each once, in its order."""
    try:
        best = json.loads(reply)["best"]
    except (ValueError, KeyError, TypeError):
        return []
    return list(dict.fromkeys(letter for letter in best if isinstance(letter, str))) if isinstance(best, list) else []
