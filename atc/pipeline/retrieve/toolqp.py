"""ToolQP (Fang and Glass, 2026, §3.1): a model plans queries, inspects results and queries again.

The results of all queries are merged at the end. The paper leaves the course of a search to a large
model's judgement (ToolQP-Prompting). A small model loses track, so here the program proceeds from
sub-goal to sub-goal, each question is narrow, and each reply is JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atc.pipeline.retrieve.base import Hit, Retrieval, Retriever
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.fuse import peak_rank
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_list,
    a_text,
    an_object,
    json_object,
    one_text,
    texts,
)
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.response import one_line
from protocols.schema import Json, JsonObject

PLAN_TEMPERATURE = 0.0
QUERY_TEMPERATURE = 0.5
"""Sampling temperatures of plans and queries: those of ToolQP-Prompting (paper, Table 5)."""
PLAN_TOKENS = 600
QUERY_TOKENS = 250
"""Maximum length of a reply in tokens. A model that writes more has begun to repeat itself."""
_TASK_LETTERS = 4000
_DESCRIPTION_LETTERS = 140
_MOST_GOALS = 6
_TRIES = 3
"""Maximum number of queries for one sub-goal."""
_DEPTH = 20
"""Minimum number of tools that are ranked for each query."""
_NONE = "none"
_PLAN_SCHEMA = an_object(
    {"plan": a_text(600), "sub_goals": a_list(a_text(200, least=3), most=_MOST_GOALS, least=1)}
)


class QueryCache:
    """A cache of the results of the retriever `base`.

    Each different query is searched once, for the best `depth` tools.
    """

    def __init__(self, base: Retriever, *, depth: int) -> None:
        self._base = base
        self._depth = depth
        self._by_query: dict[str, Sequence[Hit]] = {}

    def find_hits(self, query: str) -> Sequence[Hit]:
        """Return the tools that the retriever finds for `query`, best first."""
        key = _key(query)
        if key not in self._by_query:
            self._by_query[key] = self._base.search(query, k=self._depth).hits
        return self._by_query[key]

    @property
    def lists(self) -> list[Sequence[Hit]]:
        """The tools found for each query, in the order in which the queries were searched."""
        return list(self._by_query.values())


class ToolQP:
    """A `Retriever` in which a model plans queries, which the retriever `base` searches.

    `documents` has the descriptions of the tools that `base` finds. `queries` is the maximum number
    of queries that the model may write (appendix C.4 of the paper); the user's own query is
    searched as well. The model sees the `shown` best tools for each query (C.3). Several searches
    may run at once.

    Raises:
        ValueError: `queries` or `shown` is less than one.
    """

    def __init__(
        self,
        base: Retriever,
        documents: Mapping[str, ToolDocument],
        ask: Ask,
        *,
        queries: int = 10,
        shown: int = 5,
    ) -> None:
        if min(queries, shown) < 1:
            raise ValueError(f"queries and shown must be 1 or more, not {queries} and {shown}")
        self._base = base
        self._documents = documents
        self._ask = ask
        self._queries = queries
        self._shown = shown

    def search(self, query: str, *, k: int) -> Retrieval:
        """Search with all queries of the model, and return at most `k` tools.

        They are ranked by their best rank over all queries.

        Raises:
            RetrievalUnavailable: raised by `base`.
            ModelUnavailable: the model did not answer.
        """
        if not self._documents or not query.strip():
            return Retrieval(hits=())
        ask = Tally(self._ask)
        found = QueryCache(self._base, depth=max(k, _DEPTH))
        notes = [f"own query → {_join_names(found.find_hits(query)[: self._shown])}"]
        task = query if len(query) <= _TASK_LETTERS else query[:_TASK_LETTERS] + " …"
        messages = [
            Message("system", fill("toolqp_system")),
            Message("user", fill("toolqp_task", task=task)),
        ]
        text = ask(
            messages,
            schema=_PLAN_SCHEMA,
            temperature=PLAN_TEMPERATURE,
            seed=0,
            max_tokens=PLAN_TOKENS,
        ).text
        plan = json_object(text)
        goals = list(dict.fromkeys(texts(plan.get("sub_goals"))))[:_MOST_GOALS] or [task]
        notes += [f"plan: {breakdown}"] if (breakdown := one_text(plan.get("plan"))) else []
        notes += [f"sub-goal {number}: {goal}" for number, goal in enumerate(goals, start=1)]
        notes += self._search(goals, [*messages, Message("assistant", text)], ask, found)
        return Retrieval(
            hits=tuple(peak_rank(found.lists)[:k]), transcript=tuple(notes), usage=ask.usage
        )

    def _search(
        self, goals: Sequence[str], messages: list[Message], ask: Ask, found: QueryCache
    ) -> list[str]:
        """Search for one sub-goal after another, and return a transcript line for each query.

        If the model writes no new query for a sub-goal, the sub-goal itself is the query.
        """
        notes: list[str] = []
        asked: set[str] = set()
        goal = tries = 0
        judged: Sequence[Hit] | None = None  # results that the next reply judges, if any
        question = fill("toolqp_first", goal=goals[0])
        for number in range(1, self._queries + 1):
            reply = _ask_for_query(ask, messages, question, judged, seed=number)
            if number > 1 and _is_goal_over(judged, reply):
                goal += 1
                tries = 0
            if goal == len(goals):
                return [*notes, "stopped: every sub-goal has a tool"]
            query = one_text(reply.get("query"))
            if not query or _key(query) in asked:
                query = goals[goal]
            repeated = _key(query) in asked
            asked.add(_key(query))
            tries += 1
            shown = found.find_hits(query)[: self._shown]
            notes.append(f"query {number} for sub-goal {goal + 1}: {query} → {_join_names(shown)}")
            judged = None if repeated or tries == _TRIES else shown
            if judged is None and goal + 1 == len(goals):
                return [*notes, "stopped: no tool was found for the last sub-goal"]
            question = self._build_question(shown, goals, goal, is_judged=judged is not None)
        return [*notes, f"stopped: {self._queries} queries are the most"]

    def _build_question(
        self, shown: Sequence[Hit], goals: Sequence[str], goal: int, *, is_judged: bool
    ) -> str:
        """Return the message that shows the model the results for one sub-goal.

        `goal` is the number of the sub-goal (from 0). If `is_judged` is True, the message asks the
        model to judge the results; otherwise it says that the search for this sub-goal has ended.
        """
        values = {"found": format_found_tools(shown, self._documents), "number": str(goal + 1)}
        last = goal + 1 == len(goals)
        if not last:
            values |= {"next_number": str(goal + 2), "next_goal": goals[goal + 1]}
        if not is_judged:
            return fill("toolqp_given_up", **values)
        prompt = "toolqp_results_last" if last else "toolqp_results_next"
        return fill(prompt, **values, goal=goals[goal])


def _ask_for_query(
    ask: Ask, messages: list[Message], question: str, judged: Sequence[Hit] | None, *, seed: int
) -> dict[str, Json]:
    """Ask the model for its next query and return the JSON object in its reply.

    The question and the reply are both appended to `messages`.
    """
    messages.append(Message("user", question))
    text = ask(
        messages,
        schema=_reply_schema(judged),
        temperature=QUERY_TEMPERATURE,
        seed=seed,
        max_tokens=QUERY_TOKENS,
    ).text
    messages.append(Message("assistant", text))
    return json_object(text)


def _is_goal_over(judged: Sequence[Hit] | None, reply: Mapping[str, Json]) -> bool:
    """Return True if the search for the current sub-goal has ended.

    This is so if the program gave up the sub-goal (`judged` is None), or if the reply names one of
    the tools `judged`, which the model was shown, as one that serves the sub-goal.
    """
    if judged is None:
        return True
    return reply.get("serves") in {hit.tool for hit in judged} - {_NONE}


def format_found_tools(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> str:
    """Return a numbered line for each tool: its name and the beginning of its description."""
    lines = []
    for number, hit in enumerate(found, start=1):
        document = documents.get(hit.tool)
        about = (
            one_line(document.description or document.title, limit=_DESCRIPTION_LETTERS)
            if document
            else ""
        )
        lines.append(f"{number}. {hit.tool}: {about}" if about else f"{number}. {hit.tool}")
    return "\n".join(lines) or "(nothing)"


def _reply_schema(judged: Sequence[Hit] | None) -> JsonObject:
    properties: dict[str, Json] = {"query": a_text(300)}
    if judged is not None:
        names = dict.fromkeys([*(hit.tool for hit in judged), _NONE])
        properties = {"serves": {"type": "string", "enum": [*names]}, **properties}
    return an_object(properties)


def _key(query: str) -> str:
    """Return a query in normal form, which ignores case and repeated spaces."""
    return " ".join(query.casefold().split())


def _join_names(hits: Sequence[Hit]) -> str:
    return ", ".join(hit.tool for hit in hits) or "nothing"
