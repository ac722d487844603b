"""The reward of reinforcement learning (RLVR, §3.3 and Appendix C.4), and the environment that answers a planner.

To train a planner elsewhere, let it speak: begin with `planner.opening(task)`, append the planner's turn and what
`answer` says to it, until `answer` is None; then `reward` scores the whole conversation. Both are deterministic. The
tasks, with their gold tools and reference plans, are the lines that `python -m benchmarks.toolqp` writes.

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5          retrieval: against the base's own result for the task with its plan
      + 1.5 (well-formed turns / turns) + 0.6 (ends with <stop_retrieval>)                               format
      + 1.0 cos(plan, reference plan)                                                                      plan
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from atc.retrieve.base import Embedder, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.fuse import peak_rank
from atc.retrieve.toolqp import Found
from benchmarks.retrieval.figures import ndcg, recall
from benchmarks.toolqp.planner import BEGIN, STOP, ends, read_plan, read_query, results
from protocols.ask import Message

MOST_QUERIES = 10
WEIGHTS: Mapping[str, float] = {"ndcg": 5.0, "recall": 2.5, "form": 1.5, "stop": 0.6, "plan": 1.0}
"""The β's of Appendix C.4."""
_SHOWN, _DEPTH = 5, 20


def reward(
    conversation: Sequence[Message],
    *,
    task: str,
    gold: Collection[str],
    plan: str,
    base: Retriever,
    embedder: Embedder,
    k: int = 5,
) -> dict[str, float]:
    """The parts of a rollout's reward before the weights, and the weighted `total`.

    `conversation` has all turns of the planner, from the plan on; `gold` are the tools that `task` takes and `plan` is
    its reference plan. The rollout's ranking is the peak rank over the task's own query and the planner's first ten, as
    `ToolQP` gives it; the baseline is what `base` finds for the task and the reference plan in one query. Turns that
    are missing earn nothing.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = Found(base, depth=max(k, _DEPTH))
    queries = [read_query(turn).text for turn in turns[1 : MOST_QUERIES + 1] if not ends(turn)]
    for query in (task, *filter(None, queries)):
        found.look(query)
    ranking = [hit.tool for hit in peak_rank(found.lists)]
    baseline = [hit.tool for hit in base.search(f"{task} {plan}", k=k).hits]
    formed = [(read_query if number else read_plan)(turn).well_formed for number, turn in enumerate(turns)]
    own = read_plan(turns[0]).text if turns else ""
    vectors = embedder.embed([own, plan])
    parts = {
        "ndcg": ndcg(ranking, gold, k) - ndcg(baseline, gold, k),
        "recall": recall(ranking, gold, k) - recall(baseline, gold, k),
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
    query = read_query(turns[-1]).text
    return results(base.search(query, k=_SHOWN).hits if query else (), documents)
