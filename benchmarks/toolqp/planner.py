"""The conversation with a planner, turn by turn, and its reward.

To train a planner by rewards, begin with `planner_prompt(task)`, answer its plan with `BEGIN` and
each of its at most ten queries with `results`; then `reward` scores the whole conversation (RLVR,
Appendix C.4):

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5 + 1.5 (well-formed turns / turns)
      + 0.6 (ends with <stop_retrieval>) + 1.0 cos(plan, reference plan)

Both Δ are against the base's own result for the task with its plan.
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
"""Most queries of a planner, and so of a trajectory (C.4)."""
SHOWN = 5
"""Tools of a result that the conversation shows (C.3)."""
WEIGHTS: Mapping[str, float] = {"ndcg": 5.0, "recall": 2.5, "form": 1.5, "stop": 0.6, "plan": 1.0}
"""The weights of a reward's parts: the β's of Appendix C.4."""
STOP = "<stop_retrieval>"
BEGIN = "Begin retrieval."
fill = partial(fill_from, "benchmarks.toolqp.prompts")
_PLAN = re.compile(
    r"<task_breakdown>(.+?)</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL
)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)


def planner_prompt(task: str) -> list[Message]:
    """Return the messages before a planner's first turn."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> Message:
    """Build the message that shows the planner the best tools found by its query."""
    return Message(
        "user",
        "System retrieved tools for previous query:\n"
        + format_found_tools(found[:SHOWN], documents),
    )


def parse_plan(turn: str) -> str:
    """Return the breakdown of a first turn; empty if the turn is malformed."""
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
    """Return the query of a later turn; empty if it has none."""
    found = _QUERY.search(turn)
    return " ".join(found[1].split()) if found else ""


def well_formed(number: int, turn: str) -> bool:
    """Return True if turn `number` is well-formed: first a plan, then queries or the end."""
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
    """Return the parts of a rollout's reward before the weights, and the weighted `total`.

    Missing turns earn nothing. `conversation` has all turns of the planner, from the plan on.
    `gold` are the tools that `task` needs, `plan` is its reference plan. The ranking is `ToolQP`'s
    over the task's query and the planner's first ten.
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
