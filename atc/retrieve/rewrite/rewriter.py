"""`Rewriter`: a language model expands a query before a ranker searches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from atc.retrieve.base import Hit, Ranker, Retrieval, View
from atc.retrieve.document import ToolDocument, json_text
from atc.retrieve.fuse import hits
from atc.retrieve.rewrite.methods import METHODS
from atc.retrieve.rewrite.opening import opening
from atc.retrieve.rewrite.prompts import fill
from atc.retrieve.rewrite.samples import MAX_TOKENS, SEARCH_SCHEMA, TOOL_SCHEMA, fault, read_search, read_tool
from atc.retrieve.side_by_side import SideBySide
from atc.retrieve.tally import Tally
from protocols.ask import Ask, Message, powers
from protocols.ask_each import Request, ask_each, reply, require


class Rewriter:
    """Searches `ranker` by a query and what a model makes of it, as the `method` of `METHODS` says.

    `documents` are those of the ranker's names. `text` makes of a hypothetical tool what the ranker's index holds of a
    real one, so that the two compare. `samples` and `feedback` (tools of a first pass that the model is shown, 0 for
    none) are the method's own where not given; samples are taken with the seeds `seed`, `seed` + 1, … A sample that is
    empty, cannot be read, or repeats what the model was given is left out; where none is left, the query alone is
    searched, and the transcript says so. An embedder that reads queries with a prefix reads hypothetical tools with it
    too.
    """

    def __init__(
        self,
        ranker: Ranker,
        ask: Ask,
        method: str,
        *,
        documents: Mapping[str, ToolDocument],
        text: Callable[[ToolDocument], str] = json_text,
        samples: int | None = None,
        feedback: int | None = None,
        seed: int = 0,
    ) -> None:
        own = METHODS[method]
        self.method = replace(
            own,
            samples=own.samples if samples is None else samples,
            feedback=own.feedback if feedback is None else feedback,
        )
        self._ranker, self._ask, self._documents, self._text, self._seed = ranker, ask, documents, text, seed

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, see `Retriever.search`. A blank query, or an empty index, asks no model.

        Raises:
            ModelUnavailable: the model gave no reply.
        """
        if not query.strip() or not len(self._ranker.names):
            return Retrieval(hits=self._hits(query, k))
        ask, notes = Tally(self._ask), []
        found = [hit.tool for hit in self._hits(query, self.method.feedback)] if self.method.feedback else []
        if found:
            notes.append(f"shown to the model: {', '.join(found)}")
        messages = opening(self.method, query, [self._documents[name] for name in found])
        written = []
        for number, said in enumerate(self._replies(ask, messages)):
            text, problem = self._read(said, query)
            notes.append(f"{self.method.writes} {number + 1}: " + (f"left out, it is {problem}" if problem else text))
            if problem is None:
                written.append(text)
        if not written:
            notes.append("no sample is of use: the query alone was searched")
        view = self._view(query, written) if written else query
        return Retrieval(hits=self._hits(view, k), transcript=tuple(notes), usage=ask.usage)

    def _hits(self, view: View, k: int) -> tuple[Hit, ...]:
        [ranked] = self._ranker.top([view], n=k)
        return hits(ranked, self._ranker.names, k=k)

    def _replies(self, ask: Ask, messages: list[Message]) -> list[str]:
        """The samples, asked for side by side where the endpoint answers several requests at a time."""
        schema = TOOL_SCHEMA if self.method.writes == "tool" else SEARCH_SCHEMA
        alike = Request(
            messages=messages,
            schema=schema,
            temperature=self.method.temperature,
            seed=self._seed,
            max_tokens=MAX_TOKENS,
        )
        requests = [replace(alike, seed=self._seed + number) for number in range(self.method.samples)]
        if not powers(ask).parallel:
            return [require(reply(ask, request)).text for request in requests]
        with SideBySide(len(requests)) as threads:
            return [require(one).text for one in ask_each(ask, requests, threads)]

    def _read(self, said: str, query: str) -> tuple[str, str | None]:
        """One expansion, and what is wrong with it, if something is."""
        if self.method.writes == "search":
            text = read_search(said)
            return text, fault(text, given=[query])
        tool, example = read_tool(said), read_tool(fill("example_tool"))
        return self._text(tool), fault(tool.description, given=[query, example.description])

    def _view(self, query: str, written: list[str]) -> View:
        match self.method.combine:
            case "mean":
                return (query, *written)
            case "append":
                return tuple(f"{query}\n{text}" for text in written)
            case "replace":
                return tuple(written)
