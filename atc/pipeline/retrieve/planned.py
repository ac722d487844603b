"""Several searches for one task: their hits take turns, and the tools that produce needed ids come along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from atc.pipeline.retrieve.base import Hit, Ranker, Retrieval
from atc.pipeline.retrieve.model_replies import Tally, a_list, a_text, an_object, json_object, texts
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.toolbox import Toolbox
from protocols.truncate import clip_text

_LEAST = 1e-9
"""A rise that counts: where two tools produce for each other, rises get smaller without end."""
_MOST = 6
_TASK_CHARACTERS = 4000
_MAX_TOKENS = 300
_SCHEMA = an_object({"searches": a_list(a_text(120, least=3), most=_MOST, least=1)})


def with_producers(hits: Sequence[Hit], toolbox: Toolbox, *, k: int) -> tuple[Hit, ...]:
    """The `k` best of `hits` and of the producers of their arguments, best first, ties by name.

    A producer is worth the mean of its own score and that of the tool whose argument it yields, where that is more than
    its own: what a good hit needs and what fits the query too comes first, and no number has to be chosen. So do the
    producers of producers. A tool that is not among `hits` has the score of the last of them; give more hits than `k`,
    so that producers can be told apart. What rose for another's sake says so in `why`.
    """
    own = {hit.tool: hit.score for hit in hits}
    found = {hit.tool: hit for hit in hits}
    least = min((hit.score for hit in hits), default=0.0)
    front = [hit.tool for hit in hits[:k]]
    while front:
        risen: dict[str, None] = {}
        for name in front:
            arguments = sorted(toolbox[name].protocol.parameters) if name in toolbox else ()
            yields = (
                (one, p.tool.alias)
                for one in arguments
                for p in toolbox.producers(toolbox[name], one)
            )
            for argument, producer in yields:
                worth = (own.get(producer, least) + found[name].score) / 2
                if producer not in found or worth > found[producer].score + _LEAST:
                    found[producer] = Hit(producer, worth, f"producer of {name}({argument})")
                    risen[producer] = None
        front = list(risen)
    return tuple(sorted(found.values(), key=lambda hit: (-hit.score, hit.tool))[:k])


def in_turns(searches: Sequence[Sequence[Hit]], toolbox: Toolbox, *, k: int) -> tuple[Hit, ...]:
    """At most `k` tools of several searches for one task: their best hits first, then their second ones, and so on.

    The producers of what they need rise as in `with_producers`; a score is how many tools stand behind, at first.
    """
    merged = {
        hit.tool: hit.why for turn in zip_longest(*searches) for hit in turn if hit is not None
    }
    hits = [
        Hit(tool, float(len(merged) - place), why)
        for place, (tool, why) in enumerate(merged.items())
    ]
    return with_producers(hits, toolbox, k=k)


@dataclass(frozen=True, kw_only=True)
class PlannedRetriever:
    """A `Retriever` for tasks that take several tools: ToolQP's decomposition without its conversation.

    A model takes the task apart into searches with one short request; the task itself is searched where its reply holds
    none.
    """

    ranker: Ranker
    ask: Ask

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, those that stand first in any search before the second ones, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        ask = Tally(self.ask)
        messages = [
            Message("system", fill("planned_searches")),
            Message("user", clip_text(query.strip(), _TASK_CHARACTERS)),
        ]
        reply = ask(messages, schema=_SCHEMA, max_tokens=_MAX_TOKENS)
        searches = list(dict.fromkeys(texts(json_object(reply.text).get("searches"))))[:_MOST] or [
            query
        ]
        names = self.ranker.names
        found = [
            [
                Hit(names[at], score)
                for at, score in zip(one.positions.tolist(), one.scores.tolist(), strict=True)
            ]
            for one in self.ranker.top(searches, n=k)
        ]
        transcript = tuple(f"search: {search}" for search in searches)
        return Retrieval(
            hits=in_turns(found, Toolbox(), k=k), transcript=transcript, usage=ask.usage
        )
