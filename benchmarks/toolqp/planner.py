"""The conversation with a planner, turn by turn, and the reward for it.

A planner is a model that splits a task into goals and searches for tools. To train it with rewards,
send it `planner_prompt(task)`, answer its plan with `BEGIN` and each of its queries (at most ten)
with `results`. Then `reward` scores the whole conversation (appendix C.4 of the ToolQP paper):

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5 + 1.5 (well-formed turns / turns)
      + 0.6 (ends with <stop_retrieval>) + 1.0 cos(plan, reference plan)

Both Δ are differences from a single search for the task together with its reference plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import count

from atc.core.prompts import fill_from
from atc.pipeline.retrieve.base import Embedder, Hit, Retriever
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.fuse import peak_rank
from atc.pipeline.retrieve.model_replies import texts
from atc.pipeline.retrieve.toolqp import QueryCache, format_found_tools
from benchmarks.retrieval.data import ndcg, recall
from protocols.model import Message

MOST_QUERIES = 10
"""Maximum number of a planner's queries in one conversation (appendix C.4 of the ToolQP paper)."""
SHOWN = 5
"""Number of found tools that the conversation shows for each query (appendix C.3 of the paper)."""
WEIGHTS: Mapping[str, float] = {"ndcg": 5.0, "recall": 2.5, "form": 1.5, "stop": 0.6, "plan": 1.0}
"""The weight of each part of a reward: the β's in appendix C.4 of the ToolQP paper."""
STOP = "<stop_retrieval>"
BEGIN = "Begin retrieval."
fill = partial(fill_from, "benchmarks.toolqp.prompts")
_PLAN = re.compile(
    r"<task_breakdown>(.+?)</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL
)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)


def planner_prompt(task: str) -> list[Message]:
    """Return the messages that ask a planner for its first turn (the plan)."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> Message:
    """Return the message that shows the planner the best tools that its query found."""
    return Message(
        "user",
        "System retrieved tools for previous query:\n"
        + format_found_tools(found[:SHOWN], documents),
    )


def parse_plan(turn: str) -> str:
    """Return the task breakdown in a planner's first turn, or "" if the turn is malformed."""
    found = _PLAN.fullmatch(turn.strip())
    if found is None:
        return ""
    try:
        goals = json.loads(found[2], strict=False)
    except (ValueError, RecursionError):
        return ""
    is_list_of_texts = isinstance(goals, list) and len(texts(goals)) == len(goals)
    return " ".join(found[1].split()) if is_list_of_texts else ""


def read_query(turn: str) -> str:
    """Return the query in a later turn of a planner, or "" if the turn has none."""
    found = _QUERY.search(turn)
    return " ".join(found[1].split()) if found else ""


def well_formed(number: int, turn: str) -> bool:
    """Return True if a reply (turn) of the planner has the required form.

    The first turn (`number` 0) must be a plan, every other turn a query or the end of the search.
    """
    if number == 0:
        return bool(parse_plan(turn))
    return turn.strip() == STOP or (
        bool(read_query(turn)) and _QUERY.fullmatch(turn.strip()) is not None
    )


def reward(
    conversation: Sequence[Message],
    *,
    task: str,
    gold: Collection[str],
    plan: str,
    base: Retriever,
    embedder: Embedder,
) -> dict[str, float]:
    """Return the parts of a conversation's reward without their weights, and the weighted `total`.

    Parts for which turns are missing are 0. `conversation` has all turns of the planner, including
    the plan. `gold` are the tools that the task needs, `plan` is its reference plan. The scored
    ranking is the one that `ToolQP` computes from the results for the task and for the planner's
    first ten queries.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = QueryCache(base, depth=20)
    for query in (task, *filter(None, map(read_query, turns[1 : MOST_QUERIES + 1]))):
        found.find_hits(query)
    ranking = [hit.tool for hit in peak_rank(found.lists)]
    baseline = [hit.tool for hit in base.search(f"{task} {plan}", k=5).hits]
    vectors = embedder.embed([parse_plan(turns[0]) if turns else "", plan])
    parts = {
        "ndcg": ndcg(ranking, gold, 5) - ndcg(baseline, gold, 5),
        "recall": recall(ranking, gold, 5) - recall(baseline, gold, 5),
        "form": sum(map(well_formed, count(), turns)) / len(turns) if turns else 0.0,
        "stop": float(
            bool(turns) and turns[-1].strip().endswith(STOP) and not read_query(turns[-1])
        ),
        "plan": float(vectors[0] @ vectors[1]),
    }
    return parts | {"total": sum(WEIGHTS[name] * value for name, value in parts.items())}
