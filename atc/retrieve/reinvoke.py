"""Re-Invoke (Chen et al., 2024): documents expanded by synthetic queries, queries taken apart into intents, and both
brought together by multi-view ranking.
"""

from __future__ import annotations

from collections.abc import Callable

from atc.retrieve.base import Ranker, Retrieval
from atc.retrieve.fuse import hits, multi_view_lists
from atc.retrieve.intents import Found
from atc.types import Usage


class ReInvoke:
    """A `Retriever` over any ranker, usually one over expanded documents (`expanded_dense`, `expanded_lexical`).

    `intents` takes a query apart; None is the ablation without (the query is the only view). With `own_query` the
    query is one more view beside its intents. Several threads may search at once.
    """

    def __init__(
        self, ranker: Ranker, *, intents: Callable[[str], Found] | None = None, own_query: bool = False
    ) -> None:
        self._ranker, self._intents, self._own_query = ranker, intents, own_query

    def search(self, query: str, *, k: int) -> Retrieval:
        """The `k` best tools; the transcript lists the intents.

        Raises:
            ModelUnavailable, RetrievalUnavailable: see `Retriever.search`.
        """
        views, usage = self._intents(query) if self._intents is not None else ((query,), Usage())
        transcript = [f"intent: {view}" for view in views] if self._intents is not None else []
        if self._own_query and query not in views:
            views = (*views, query)
            transcript.append("and the query as it stands")
        ranked = multi_view_lists(self._ranker.top(views, n=k), self._ranker.names)
        return Retrieval(hits=hits(ranked, self._ranker.names, k=k), transcript=tuple(transcript), usage=usage)
