"""The conversation that a planner of ToolQP is trained on, and its reward (RLVR, §3.3, Appendix C.4).

To train a planner elsewhere, let it speak: begin with `opening(task)`, answer its plan with `BEGIN` and each of its ten
queries at most with `results`; then `reward` scores the whole conversation. The tasks, with their gold tools and
reference plans, are the lines that `python -m benchmarks.toolqp` writes.

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5          retrieval: against the base's own result for the task with its plan
      + 1.5 (well-formed turns / turns) + 0.6 (ends with <stop_retrieval>)                               format
      + 1.0 cos(plan, reference plan)                                                                      plan
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import count

from atc import prompt_files
from atc.retrieve.asking import texts
from atc.retrieve.base import Embedder, Hit, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.fuse import peak_rank
from atc.retrieve.toolqp import Found, listing
from benchmarks.retrieval.figures import ndcg, recall
from protocols.ask import Message

MOST_QUERIES = 10
"""The longest trajectory, in queries: a planner may write no more (C.4)."""
SHOWN = 5
"""Tools of a result that the conversation shows (C.3)."""
WEIGHTS: Mapping[str, float] = {"ndcg": 5.0, "recall": 2.5, "form": 1.5, "stop": 0.6, "plan": 1.0}
"""The β's of Appendix C.4."""
STOP = "<stop_retrieval>"
BEGIN = "Begin retrieval."
fill = partial(prompt_files.fill, "benchmarks.toolqp.prompts")
_K, _DEPTH = 5, 20
_PLAN = re.compile(r"<task_breakdown>(.+?)</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)


def opening(task: str) -> list[Message]:
    """What stands before the first turn of a planner."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    """The planner's first turn."""
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    """A later turn, which searches."""
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> Message:
    """What the planner is told after a query: the best of the tools found."""
    return Message("user", "System retrieved tools for previous query:\n" + listing(found[:SHOWN], documents))


def read_plan(turn: str) -> str:
    """The breakdown of a first turn; empty where the turn is not written in the form."""
    found = _PLAN.fullmatch(turn.strip())
    try:
        goals = json.loads(found[2], strict=False) if found else None
    except (ValueError, RecursionError):
        return ""
    return " ".join(found[1].split()) if found and isinstance(goals, list) and len(texts(goals)) == len(goals) else ""


def read_query(turn: str) -> str:
    """The query of a later turn; empty where it has none."""
    found = _QUERY.search(turn)
    return " ".join(found[1].split()) if found else ""


def well_formed(number: int, turn: str) -> bool:
    """Whether a turn is written in the form of its place: the plan first, then queries or the end."""
    if number == 0:
        return bool(read_plan(turn))
    return turn.strip() == STOP or (bool(read_query(turn)) and _QUERY.fullmatch(turn.strip()) is not None)


def reward(
    conversation: Sequence[Message], *, task: str, gold: Collection[str], plan: str, base: Retriever, embedder: Embedder
) -> dict[str, float]:
    """The parts of a rollout's reward before the weights, and the weighted `total`.

    `conversation` has all turns of the planner, from the plan on; `gold` are the tools that `task` takes and `plan` is
    its reference plan. The rollout's ranking is the peak rank over the task's own query and the planner's first ten, as
    `ToolQP` gives it; the baseline is what `base` finds for the task and the reference plan in one query. Turns that
    are missing earn nothing.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = Found(base, depth=_DEPTH)
    for query in (task, *filter(None, map(read_query, turns[1 : MOST_QUERIES + 1]))):
        found.look(query)
    ranking = [hit.tool for hit in peak_rank(found.lists)]
    baseline = [hit.tool for hit in base.search(f"{task} {plan}", k=_K).hits]
    vectors = embedder.embed([read_plan(turns[0]) if turns else "", plan])
    parts = {
        "ndcg": ndcg(ranking, gold, _K) - ndcg(baseline, gold, _K),
        "recall": recall(ranking, gold, _K) - recall(baseline, gold, _K),
        "form": sum(map(well_formed, count(), turns)) / len(turns) if turns else 0.0,
        "stop": float(bool(turns) and turns[-1].strip().endswith(STOP) and not read_query(turns[-1])),
        "plan": float(vectors[0] @ vectors[1]),
    }
    return parts | {"total": sum(WEIGHTS[name] * value for name, value in parts.items())}
