"""Asks methods of search the queries of a data set; a run that was stopped goes on where it was."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from atc.retrieve.base import Retriever
from atc.retrieve.building import Setup, build
from atc.retrieve.methods import METHODS, read
from benchmarks.retrieval.data import RetrievalData, RetrievalQuery, draw
from benchmarks.runner import Rows
from protocols.errors import AtcError

FORMAT = "atc-retrieval-2"
DEPTH = 20
"""Tools of a ranking that are kept: no metric looks further down."""
ASKED = 100
"""Queries of a method that calls a model for each: drawn by seed, before any result is seen."""
Row = dict[str, Any]
"""What one method found for one query, best first, and what it took: `method`, `id`, `ranking`, `seconds` of the whole
search, `model_calls`, `input_tokens`, `output_tokens`, and `scores` where more than `DEPTH` tools are asked for. A row
with an `outage` says nothing of the method, and is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked: `methods` as they are spelled; none: all that need no model for a query.

    `limit` queries are drawn by `seed`; without it a method that asks a model for each query gets `ASKED` of them, any
    other method all. `everything` lifts that. `depth` tools are asked for.
    """

    methods: tuple[str, ...] = ()
    limit: int | None = None
    everything: bool = False
    seed: int = 0
    depth: int = DEPTH

    @property
    def specs(self) -> tuple[str, ...]:
        """The methods as they are spelled. Raises UnknownMethod."""
        for spec in self.methods:
            read(spec)
        return tuple(dict.fromkeys(self.methods)) or tuple(name for name, one in METHODS.items() if not one.asks)

    def queries(self, spec: str, data: RetrievalData) -> tuple[RetrievalQuery, ...]:
        """The queries that a method is asked, in the data's order."""
        limit = self.limit
        if limit is None and not self.everything and read(spec)[0].asks:
            limit = ASKED
        return data.queries if limit is None else draw(data.queries, limit, seed=self.seed)


def run_method(
    spec: str, wanted: Wanted, data: RetrievalData, setup: Setup, file: Rows, *, workers: int = 1
) -> list[Row]:
    """A row for each query, in their order; the method is built only where `file` lacks some.

    Only a method that asks a model is asked several queries at once: others share the cores.

    Raises:
        RetrievalUnavailable: a package, vectors or synthetic queries are missing.
        Outage: the model kept failing; the file has what was found.
    """
    built: list[Retriever] = []

    def search(query: RetrievalQuery) -> Row:
        begun = time.perf_counter()
        try:
            found = built[0].search(query.text, k=wanted.depth)
        except AtcError as error:
            return {"method": spec, "id": query.id, "outage": str(error)}
        scores = {hit.tool: round(hit.score, 6) for hit in reversed(found.hits)}
        row = {"method": spec, "id": query.id, "ranking": list(dict.fromkeys(hit.tool for hit in found.hits))}
        row |= {"seconds": round(time.perf_counter() - begun, 6)}
        row |= {key: getattr(found.usage, key) for key in ("model_calls", "input_tokens", "output_tokens")}
        return row | ({"scores": [scores[tool] for tool in row["ranking"]]} if wanted.depth > DEPTH else {})

    queries = wanted.queries(spec, data)
    if any(file.rows.get((spec, query.id), {"outage": "none yet"}).get("outage") for query in queries):
        built.append(build(spec, setup))
    jobs = workers if read(spec)[0].asks else 1
    return file.fill(queries, search, key=lambda query: (spec, query.id), label=spec, jobs=jobs)
