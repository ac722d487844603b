"""The search method `planned`: a model plans several searches for one task.

The hits of the searches are merged. The module also has the functions that add producers, that is,
tools which return ids that other tools require.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from atc.pipeline.retrieve.base import Hit, Ranker, Retrieval
from atc.pipeline.retrieve.base import hits as to_hits
from atc.pipeline.retrieve.model_replies import Tally, a_list, a_text, an_object, json_object, texts
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.toolbox import Toolbox
from protocols.truncate import clip_text

_LEAST = 1e-9
"""Minimum increase of a score.

Two tools that produce arguments for each other would raise each other forever in ever smaller
steps.
"""
_ALLOWED = {
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
}
"""Maximum numbers of searches for one task, with their words. A short task has the first one."""
_BESIDE_PARTS = 2
"""Number of searches that are allowed in addition to one for each part of the task.

A part often needs a further tool that finds an id. With 2, the parts of nearly all of ToolFlow's
tasks allow as many searches as their gold programs have tools.
"""
_PARTS = re.compile(r"[.;?!](?=\s|$)|[,\n]|\b(?:and|then)\b")
_TASK_CHARACTERS = 4000
_TOKENS_A_SEARCH = 50


def with_producers(hits: Sequence[Hit], toolbox: Toolbox, *, k: int) -> tuple[Hit, ...]:
    """Return the `k` best tools among `hits` and the producers of their arguments, best first.

    A producer is a tool that returns the values of another tool's argument. It gets the mean of its
    own score and of the score of the tool that needs it, if the mean is higher than its own score.
    So producers that are needed by a good hit and also fit the query come first, without a tuned
    parameter. The producers of producers are raised in the same way. A tool that is not among
    `hits` starts with the lowest score of `hits`; pass more hits than `k`, so that producers have
    different scores. `Hit.why` of a raised tool names the tool that needs it. Tools with equal
    scores are ordered by name.
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
    """Merge the results of several searches for one task into at most `k` tools.

    First comes the best hit of each search, then the second hit of each, and so on. In this list,
    the last tool gets the score 1, the one before it the score 2, and so on. Then the tools that
    produce required ids are raised as in `with_producers`.
    """
    merged = {
        hit.tool: hit.why for turn in zip_longest(*searches) for hit in turn if hit is not None
    }
    hits = [
        Hit(tool, float(len(merged) - place), why)
        for place, (tool, why) in enumerate(merged.items())
    ]
    return with_producers(hits, toolbox, k=k)


def count_allowed_searches(task: str) -> int:
    """Return how many searches may be planned for a task. The number grows with the task's parts.

    A part is a sentence, or a clause that ends at a punctuation mark, at `and` or at `then`.
    """
    parts = sum(bool(part.strip()) for part in _PARTS.split(task))
    return min(max(parts + _BESIDE_PARTS, min(_ALLOWED)), max(_ALLOWED))


@dataclass(frozen=True, kw_only=True)
class PlannedRetriever:
    """A `Retriever` for tasks that need several tools: a model splits the task into searches.

    ToolQP does so in a conversation; here it takes only one request to the model. If the reply
    contains no search, the task itself is the query.
    """

    ranker: Ranker
    ask: Ask

    def search(self, query: str, *, k: int) -> Retrieval:
        """Let a model split the task `query` into searches, and return at most `k` tools.

        The best hits of all searches come first, then the second best, and so on.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        ask = Tally(self.ask)
        most = count_allowed_searches(query)
        schema = an_object({"searches": a_list(a_text(120, least=3), most=most, least=1)})
        messages = [
            Message("system", fill("planned_searches", most=_ALLOWED[most])),
            Message("user", clip_text(query.strip(), _TASK_CHARACTERS)),
        ]
        reply = ask(messages, schema=schema, max_tokens=most * _TOKENS_A_SEARCH)
        planned = texts(json_object(reply.text).get("searches"))
        searches = list(dict.fromkeys(planned))[:most] or [query]
        names = self.ranker.names
        found = [to_hits(ranking, names, k=k) for ranking in self.ranker.top(searches, n=k)]
        transcript = tuple(f"search: {search}" for search in searches)
        return Retrieval(
            hits=in_turns(found, Toolbox(), k=k), transcript=transcript, usage=ask.usage
        )
