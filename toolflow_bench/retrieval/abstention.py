"""Abstention on real queries: half of them keep their gold tools, of the others the index has lost all.

Taking away the gold tools leaves their neighbours, so this is the hard case; talk that no tool is for is not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from atc.retrieve.abstain import CALIBRATIONS, Abstain
from atc.retrieve.base import Ranked, Ranker, RetrievalUnavailable, View
from toolflow_bench.probing.tables import columns
from toolflow_bench.retrieval.data import RetrievalData, draw

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions
    from atc.retrieve.index import ToolIndex


@dataclass(frozen=True, slots=True)
class Without:
    """A ranker over an index that lacks some tools: exactly what its scores would be there, since cosines do not depend
    on other documents.
    """

    ranker: Ranker
    lacking: frozenset[str]

    @property
    def names(self) -> Sequence[str]:
        """See `Ranker.names`."""
        return self.ranker.names

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """See `Ranker.top`."""
        found = []
        for ranked in self.ranker.top(views, n=n + len(self.lacking)):
            pairs = zip(ranked.positions.tolist(), range(len(ranked.positions)), strict=True)
            kept = [place for position, place in pairs if self.names[position] not in self.lacking][:n]
            found.append(Ranked(ranked.positions[kept], ranked.scores[kept]))
        return found

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """See `Ranker.scores`; what is lacking is scored too."""
        return self.ranker.scores(views, positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstentionFigures:
    """How well abstaining tells queries apart, `asked` with their gold tools and as many without.

    `precision`: of the queries that were abstained on, those without gold tools. `recall`: of those without, the ones
    abstained on. `lost`: of the answerable ones, those abstained on. `auc`: how often an answerable query is nearer
    than one that is not, whatever the threshold.
    """

    asked: int
    threshold: float
    precision: float | None
    recall: float
    lost: float
    auc: float

    def as_json(self) -> dict[str, Any]:
        """The figures as plain JSON."""
        return asdict(self)


def abstention_figures(data: RetrievalData, index: ToolIndex, *, count: int, seed: int) -> AbstentionFigures:
    """Figures over `2 * count` queries drawn by seed (all where there are fewer), every second one without its tools.

    Raises:
        RetrievalUnavailable: the index has no vectors, or of an embedding model that was not calibrated.
    """
    judge = Abstain.over(index)
    if judge is None:
        known = ", ".join(CALIBRATIONS)
        raise RetrievalUnavailable(
            f"abstention was calibrated for the embedding models {known}; index with one of them."
        )
    drawn = draw(data.queries, 2 * count, seed=seed)
    with_gold = [judge.nearness(query.text) for query in drawn[::2]]
    without = [nearness_without(judge, query.text, query.gold) for query in drawn[1::2]]
    return judged(with_gold, without, threshold=judge.calibration.threshold)


def nearness_without(judge: Abstain, query: str, lacking: Collection[str]) -> float:
    """How near the best document would be if the index had not the tools `lacking`."""
    cut = Without(judge.dense, frozenset(lacking))
    return replace(judge, dense=cut).nearness(query)


def judged(answerable: Sequence[float], unanswerable: Sequence[float], *, threshold: float) -> AbstentionFigures:
    """The figures of these nearnesses at a threshold."""
    lost = sum(value < threshold for value in answerable)
    right = sum(value < threshold for value in unanswerable)
    wins = sum((a > b) + 0.5 * (a == b) for a in answerable for b in unanswerable)
    return AbstentionFigures(
        asked=len(answerable),
        threshold=threshold,
        precision=right / (right + lost) if right + lost else None,
        recall=right / len(unanswerable) if unanswerable else 0.0,
        lost=lost / len(answerable) if answerable else 0.0,
        auc=wins / (len(answerable) * len(unanswerable)) if answerable and unanswerable else 0.0,
    )


def abstention_lines(found: AbstentionFigures) -> list[str]:
    """The figures for people."""
    precision = "–" if found.precision is None else f"{found.precision:.1%}"
    heads = ("answerable", "without tools", "threshold", "precision", "recall", "answerable lost", "AUC")
    cells = (
        str(found.asked),
        str(found.asked),
        f"{found.threshold:.3f}",
        precision,
        f"{found.recall:.1%}",
        f"{found.lost:.1%}",
        f"{found.auc:.3f}",
    )
    return columns([heads, cells])
