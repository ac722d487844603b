"""The conversation that a planner of ToolQP is trained on, its reward (RLVR, §3.3, Appendix C.4), and what answers it.

To train a planner elsewhere, let it speak: begin with `opening(task)`, append the planner's turn and what `answer` says
to it, until `answer` is None; then `reward` scores the whole conversation. Both are deterministic. The tasks, with
their gold tools and reference plans, are the lines that `python -m benchmarks.toolqp` writes.

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5          retrieval: against the base's own result for the task with its plan
      + 1.5 (well-formed turns / turns) + 0.6 (ends with <stop_retrieval>)                               format
      + 1.0 cos(plan, reference plan)                                                                      plan
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial

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
_PLAN = re.compile(r"<task_breakdown>.*?</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL)
_BREAKDOWN = re.compile(r"<task_breakdown>(.*?)(?:</task_breakdown>|<sub_goals>|\Z)", re.DOTALL)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)
_TAG = re.compile(r"</?(?:query|task_breakdown|sub_goals|stop_retrieval|think)>")


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


def read_plan(turn: str) -> tuple[str, bool]:
    """The breakdown of a first turn as far as it can be read, and whether the turn is written in the form."""
    breakdown, whole = _BREAKDOWN.search(turn), _PLAN.fullmatch(turn.strip())
    try:
        goals = json.loads(whole[1], strict=False) if whole else None
    except (ValueError, RecursionError):
        goals = None
    said = " ".join(breakdown[1].split()) if breakdown else ""
    return said, bool(said and isinstance(goals, list) and all(isinstance(one, str) for one in goals) and texts(goals))


def read_query(turn: str) -> tuple[str, bool]:
    """The query of a later turn, empty where it ends the search, and whether the turn is written in the form.

    A turn without tags is a query as it is.
    """
    if found := _QUERY.search(turn):
        return _trimmed(found[1]), found[0] == turn.strip() and bool(found[1].strip())
    return ("", turn.strip() == STOP) if STOP in turn else (_trimmed(_TAG.sub(" ", turn)), False)


def _trimmed(query: str) -> str:
    return "\n".join(line for part in query.strip().splitlines() if (line := " ".join(part.split())))


def ends(turn: str) -> bool:
    """Whether a turn ends the search as it should: with the tag."""
    return STOP in turn and _QUERY.search(turn) is None


def reward(
    conversation: Sequence[Message],
    *,
    task: str,
    gold: Collection[str],
    plan: str,
    base: Retriever,
    embedder: Embedder,
) -> dict[str, float]:
    """The parts of a rollout's reward before the weights, and the weighted `total`.

    `conversation` has all turns of the planner, from the plan on; `gold` are the tools that `task` takes and `plan` is
    its reference plan. The rollout's ranking is the peak rank over the task's own query and the planner's first ten, as
    `ToolQP` gives it; the baseline is what `base` finds for the task and the reference plan in one query. Turns that
    are missing earn nothing.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = Found(base, depth=_DEPTH)
    queries = [read_query(turn)[0] for turn in turns[1 : MOST_QUERIES + 1] if not ends(turn)]
    for query in (task, *filter(None, queries)):
        found.look(query)
    ranking = [hit.tool for hit in peak_rank(found.lists)]
    baseline = [hit.tool for hit in base.search(f"{task} {plan}", k=_K).hits]
    formed = [(read_query if number else read_plan)(turn)[1] for number, turn in enumerate(turns)]
    vectors = embedder.embed([read_plan(turns[0])[0] if turns else "", plan])
    parts = {
        "ndcg": ndcg(ranking, gold, _K) - ndcg(baseline, gold, _K),
        "recall": recall(ranking, gold, _K) - recall(baseline, gold, _K),
        "form": sum(formed) / len(turns) if turns else 0.0,
        "stop": float(bool(turns) and turns[-1].strip().endswith(STOP) and ends(turns[-1])),
        "plan": float(vectors[0] @ vectors[1]),
    }
    return parts | {"total": sum(WEIGHTS[name] * value for name, value in parts.items())}


def answer(
    conversation: Sequence[Message], *, base: Retriever, documents: Mapping[str, ToolDocument]
) -> Message | None:
    """What the planner is told after its last turn; None where the conversation is over: ended, or ten queries long."""
    turns = [message.content for message in conversation if message.role == "assistant"]
    if len(turns) == 1:
        return Message("user", BEGIN)
    if not turns or ends(turns[-1]) or len(turns) > MOST_QUERIES:
        return None
    query = read_query(turns[-1])[0]
    return results(base.search(query, k=SHOWN).hits if query else (), documents)
