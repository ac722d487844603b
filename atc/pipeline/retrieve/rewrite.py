"""Query expansion by a language model: HyDE, Q2D and Q2E over any ranker.

| method | what the model writes | how it is searched | from |
|---|---|---|---|
| `hyde` | five hypothetical tools | the mean of their vectors and the query's | ToolQP, Table 5 |
| `q2d` | five hypothetical tools | the mean of five vectors of query + tool | ToolQP, Table 5 |
| `q2e` | five search queries | the mean of five vectors of query + search | ToolQP, Table 5 |
| `…-prf` | the same, shown the first results of the query | as above | ToolQP, Table 5 |

The papers state neither the sampling temperature nor how many tools a `-prf` prompt shows. Here
samples are drawn at 0.7, as in the HyDE paper (Gao et al., 2023) and as Re-Invoke generates its
queries. Five tools are shown, as ToolQP shows its planner. Over BM25, "the mean" is one bag of
words: `q2d` and `q2e` then count the query five times, as Query2doc does (Wang et al., 2023),
`hyde` once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atc.core.parallel import ModelRequest, require_completion
from atc.pipeline.retrieve.base import Hit, Ranker, Retrieval, View, hits
from atc.pipeline.retrieve.document import ToolDocument, json_text
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_list,
    a_text,
    an_object,
    find_text_fault,
    json_object,
    one_text,
)
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.truncate import clip_text

MAX_TOKENS = 256
"""Maximum length of one sample in tokens.

A tool takes about 70 tokens, a search 50, and the longest sample that the schemas allow about 240.
"""
_MOST_PARAMETERS = 8
_MOST_PHRASES = 6
_QUERY_CHARACTERS = 4000
_TOOL_CHARACTERS = 300
"""Maximum lengths, in characters, of the query and of a tool that is shown to the model.

A prompt then fits a small context.
"""

TOOL_SCHEMA = an_object(
    {
        "name": a_text(60),
        "description": a_text(400),
        "parameters": a_list(a_text(40), most=_MOST_PARAMETERS),
    }
)
SEARCH_SCHEMA = an_object({"search": a_list(a_text(80), most=_MOST_PHRASES, least=1)})


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteMethod:
    """One way to expand a query with texts of a model. Use `dataclasses.replace` for ablations."""

    writes: Literal["tool", "search"]
    """What the model writes: a hypothetical tool, or a query for a search engine of tools."""
    combine: Literal["mean", "append"]
    """How the texts are used: next to the query (`mean`), or appended to the query (`append`)."""
    samples: int = 5
    temperature: float = 0.7
    feedback: int = 0
    """Number of results for the unchanged query that the model is shown."""


_OWN: Mapping[str, RewriteMethod] = {
    "hyde": RewriteMethod(writes="tool", combine="mean"),
    "q2d": RewriteMethod(writes="tool", combine="append"),
    "q2e": RewriteMethod(writes="search", combine="append"),
}
REWRITERS: Mapping[str, RewriteMethod] = {
    **_OWN,
    **{f"{name}-prf": replace(method, feedback=5) for name, method in _OWN.items()},
}


class Rewriter:
    """A `Retriever` that searches with a query which a model has expanded.

    `method` is a key of `REWRITERS`. `documents` are the documents of the ranker, keyed by name.
    `text` renders a hypothetical tool in the same form as the real tools in the ranker's index, so
    that they are comparable. `options` (`samples`, `feedback`) override those of the method. A
    reply of the model that is empty, unreadable or repeats the prompt is dropped. If none is left,
    the query alone is searched, and the transcript says so.
    """

    def __init__(
        self,
        ranker: Ranker,
        ask: Ask,
        method: str,
        *,
        documents: Mapping[str, ToolDocument],
        text: Callable[[ToolDocument], str] = json_text,
        **options: int,
    ) -> None:
        self.method = replace(REWRITERS[method], **options)  # type: ignore[arg-type]
        self._ranker = ranker
        self._ask = ask
        self._documents = documents
        self._text = text

    def search(self, query: str, *, k: int) -> Retrieval:
        """Let a model expand the query, and return at most `k` tools for the expanded query.

        For a blank query or an empty index, no model is asked.

        Raises:
            ModelUnavailable: the model gave no reply.
        """
        if not query.strip() or not len(self._ranker.names):
            return Retrieval(hits=self._hits(query, k))
        ask = Tally(self._ask)
        notes = []
        shown: list[str] = []
        if self.method.feedback:
            shown = [hit.tool for hit in self._hits(query, self.method.feedback)]
        if shown:
            notes.append(f"shown to the model: {', '.join(shown)}")
        written = []
        for number, reply in enumerate(self._samples(query, shown, ask), start=1):
            text, problem = self._read(reply, query)
            if problem is None:
                written.append(text)
            result = f"left out, it is {problem}" if problem else text
            notes.append(f"{self.method.writes} {number}: {result}")
        if not written:
            notes.append("no sample is of use: the query alone was searched")
        view = self._view(query, written) if written else query
        return Retrieval(hits=self._hits(view, k), transcript=tuple(notes), usage=ask.usage)

    def _samples(self, query: str, shown: Sequence[str], ask: Tally) -> list[str]:
        """Ask the model to expand a query, and return its replies.

        `shown` are the names of the tools that the prompt shows.
        """
        method = self.method
        messages = build_rewrite_prompt(method, query, [self._documents[name] for name in shown])
        schema = TOOL_SCHEMA if method.writes == "tool" else SEARCH_SCHEMA
        requests = [
            ModelRequest(
                messages=messages,
                schema=schema,
                temperature=method.temperature,
                seed=seed,
                max_tokens=MAX_TOKENS,
            )
            for seed in range(method.samples)
        ]
        most = len(requests) if ask.powers.parallel else 1
        return [require_completion(reply).text for reply in ask.each(requests, most)]

    def _hits(self, view: View, k: int) -> tuple[Hit, ...]:
        [ranked] = self._ranker.top([view], n=k)
        return hits(ranked, self._ranker.names, k=k)

    def _read(self, reply: str, query: str) -> tuple[str, str | None]:
        """Return the text to search for from a reply, and why it is unusable, if it is."""
        if self.method.writes == "search":
            text = read_search(reply)
            return text, find_text_fault(text, given=[query])
        tool = read_tool(reply)
        return self._text(tool), find_text_fault(tool.description, given=[query])

    def _view(self, query: str, written: list[str]) -> View:
        if self.method.combine == "mean":
            return (query, *written)
        return tuple(f"{query}\n{text}" for text in written)


def read_tool(reply: str) -> ToolDocument:
    """Return the hypothetical tool that a reply of the model describes.

    Its description is empty if the reply has none.
    """
    found = json_object(reply)
    listed = found.get("parameters")
    names = [one_text(name) for name in listed] if isinstance(listed, dict | list) else []
    return ToolDocument(
        name=one_text(found.get("name")),
        description=one_text(found.get("description")),
        parameters=dict.fromkeys([name for name in names if name][:_MOST_PARAMETERS], ""),
    )


def read_search(reply: str) -> str:
    """Return the search phrases in a reply of the model, joined by commas, or "" without any."""
    phrases = json_object(reply).get("search")
    listed = phrases if isinstance(phrases, list) else [phrases]
    return ", ".join(text for phrase in listed[:_MOST_PHRASES] if (text := one_text(phrase)))


def build_rewrite_prompt(
    method: RewriteMethod, query: str, shown: Sequence[ToolDocument]
) -> list[Message]:
    """Build the conversation that asks the model to expand a query once.

    `shown` are the best tools for the unchanged query. The part that is the same for every query
    comes first, so that the model's prompt cache can reuse it.
    """
    messages = [
        Message(
            "system",
            fill(f"rewrite_{method.writes}_feedback" if shown else f"rewrite_{method.writes}"),
        )
    ]
    asked = clip_text(query.strip(), _QUERY_CHARACTERS)
    if not shown:
        return [*messages, Message("user", fill("rewrite_request", query=asked))]
    tools = "\n".join(_line(document) for document in shown)
    return [*messages, Message("user", fill("rewrite_request_feedback", query=asked, tools=tools))]


def _line(document: ToolDocument) -> str:
    about = " ".join(f"- {document.name}: {document.description or document.title}".split())
    parameters = f" (parameters: {', '.join(document.parameters)})" if document.parameters else ""
    return clip_text(about, _TOOL_CHARACTERS) + clip_text(parameters, _TOOL_CHARACTERS)
