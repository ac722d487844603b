"""The reward of reinforcement learning (RLVR, §3.3 and Appendix C.4), and the environment that answers a planner.

To train a planner elsewhere, let it speak: begin with `conversation.opening(task)`, append the planner's turn and what
`answer` says to it, until `answer` is None; then `reward` scores the whole conversation. Both are deterministic. The
tasks, with their gold tools and reference plans, are the lines that `atc bench data toolqp` writes.

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5          retrieval: against the base's own result for the task with its plan
      + 1.5 (well-formed turns / turns) + 0.6 (ends with <stop_retrieval>)                               format
      + 1.0 cos(plan, reference plan)                                                                      plan
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from atc.retrieve.base import Ranker, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.plan.aggregate import aggregated
from atc.retrieve.plan.conversation import BEGIN, STOP, ends, read_plan, read_query, results
from atc.retrieve.plan.found import Found, look_up
from protocols.ask import Message
from toolflow_bench.retrieval.metrics import ndcg, recall

MOST_QUERIES = 10
_SHOWN = 5
_DEPTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The β's of Appendix C.4."""

    ndcg: float = 5.0
    recall: float = 2.5
    form: float = 1.5
    stop: float = 0.6
    plan: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """What a rollout earned, before the weights; `total` is weighted.

    `ndcg` and `recall` are differences to the base's, in [-1, 1]; `form` is the share of well-formed turns; `stop` is 0
    or 1; `plan` is a cosine.
    """

    ndcg: float
    recall: float
    form: float
    stop: float
    plan: float
    total: float


def reward(
    conversation: Sequence[Message],
    *,
    task: str,
    gold: Collection[str],
    plan: str,
    base: Ranker | Retriever,
    embedder: Embedder,
    weights: Weights = Weights(),
    k: int = 5,
) -> Reward:
    """The reward of a rollout: `conversation` with all turns of the planner, from the plan on.

    `gold` are the tools that `task` takes and `plan` is its reference plan. The rollout's ranking is the peak rank over
    the task's own query and the planner's first ten, as `ToolQP` gives it; the baseline is what `base` finds for the
    task and the reference plan in one query. Turns that are missing earn nothing.

    Raises:
        RetrievalUnavailable: as the base or the embedder.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = Found(base, depth=max(k, _DEPTH))
    for query in (task, *_queries(turns)):
        found.look(query)
    ranking = [hit.tool for hit in aggregated(found.lists, "peak_rank")]
    baseline = [hit.tool for hit in look_up(base, f"{task} {plan}", n=k).hits]
    gained = ndcg(ranking, gold, k) - ndcg(baseline, gold, k)
    more = recall(ranking, gold, k) - recall(baseline, gold, k)
    form = sum(_well_formed(turns)) / len(turns) if turns else 0.0
    stop = float(bool(turns) and turns[-1].strip().endswith(STOP) and ends(turns[-1]))
    similar = similarity(read_plan(turns[0]).text if turns else "", plan, embedder)
    return Reward(
        ndcg=gained,
        recall=more,
        form=form,
        stop=stop,
        plan=similar,
        total=weights.ndcg * gained
        + weights.recall * more
        + weights.form * form
        + weights.stop * stop
        + weights.plan * similar,
    )


def answer(
    conversation: Sequence[Message],
    *,
    base: Ranker | Retriever,
    documents: Mapping[str, ToolDocument],
) -> Message | None:
    """What the planner is told after its last turn; None where the conversation is over: ended, or ten queries long."""
    turns = [message.content for message in conversation if message.role == "assistant"]
    if len(turns) == 1:
        return Message("user", BEGIN)
    if not turns or ends(turns[-1]) or len(turns) > MOST_QUERIES:
        return None
    query = read_query(turns[-1]).text
    return results(look_up(base, query, n=_SHOWN).hits if query else (), documents)


def similarity(one: str, other: str, embedder: Embedder) -> float:
    """The cosine of two texts under `embedder`, each embedded as a document; 0 where one is empty."""
    if not one.strip() or not other.strip():
        return 0.0
    vectors = embedder.documents([one, other])
    return float(vectors[0] @ vectors[1])


def _queries(turns: Sequence[str]) -> list[str]:
    asked = [read_query(turn).text for turn in turns[1 : MOST_QUERIES + 1] if not ends(turn)]
    return [query for query in asked if query]


def _well_formed(turns: Sequence[str]) -> list[bool]:
    return [(read_query if number else read_plan)(turn).well_formed for number, turn in enumerate(turns)]
