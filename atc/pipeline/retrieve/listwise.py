"""Listwise re-ranking: a language model reorders the first results of another retriever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_uppercase

from atc.pipeline.retrieve.base import Retrieval, Retriever
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.model_replies import Tally, a_list, an_object, json_object
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.truncate import clip_text

_QUERY_CHARACTERS = 4000
_TOOL_CHARACTERS = 240
_CHOSEN = 3
_MAX_TOKENS = 40


@dataclass(frozen=True, kw_only=True)
class Listwise:
    """A `Retriever` in which a model chooses the best of the first results of another retriever.

    The model chooses up to three of the first `candidates` (at most 26, each named by a letter).
    The chosen tools come first, the others follow in their order. The best score of the original
    ranking is given to the new first tool, the second best to the second, and so on. A reply
    without a letter changes nothing, and the transcript says so.
    """

    retriever: Retriever
    documents: Mapping[str, ToolDocument]
    ask: Ask
    candidates: int = 10

    def search(self, query: str, *, k: int) -> Retrieval:
        """Search with the other retriever, and return `k` tools in the order that the model chose.

        Raises:
            ModelUnavailable: the model gave no reply.
        """
        found = self.retriever.search(query, k=max(k, self.candidates))
        offered = dict(zip(ascii_uppercase, found.hits[: self.candidates], strict=False))
        if len(offered) < 2:
            return replace(found, hits=found.hits[:k])
        tools = "\n".join(f"{letter}. {self._line(hit.tool)}" for letter, hit in offered.items())
        asked = fill(
            "listwise_tools", tools=tools, query=clip_text(query.strip(), _QUERY_CHARACTERS)
        )
        messages = [Message("system", fill("listwise_choose")), Message("user", asked)]
        schema = an_object(
            {"best": a_list({"type": "string", "enum": list(offered)}, most=_CHOSEN, least=1)}
        )
        ask = Tally(self.ask, found.usage)
        best = json_object(ask(messages, schema=schema, max_tokens=_MAX_TOKENS).text).get("best")
        letters = dict.fromkeys(str(letter) for letter in best) if isinstance(best, list) else {}
        chosen = [offered[letter] for letter in letters if letter in offered]
        note = f"the model chose {', '.join(hit.tool for hit in chosen) or 'none: order kept'}"
        order = [*chosen, *(hit for hit in found.hits if hit not in chosen)]
        hits = [replace(hit, score=at.score) for hit, at in zip(order, found.hits, strict=True)]
        return Retrieval(
            hits=tuple(hits[:k]), transcript=(*found.transcript, note), usage=ask.usage
        )

    def _line(self, name: str) -> str:
        document = self.documents[name]
        return clip_text(
            " ".join(f"{name}: {document.description or document.title}".split()), _TOOL_CHARACTERS
        )
