"""Asks methods of search the queries of a data set; can be stopped at any time and goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

from atc.retrieve.base import Retriever
from atc.retrieve.building import Setup, build
from atc.retrieve.methods import METHODS, read
from atc.side_by_side import as_done
from benchmarks.retrieval.data import RetrievalData, RetrievalQuery, draw
from benchmarks.runner import Rows
from protocols.errors import AtcError

FORMAT = "atc-retrieval-1"
DEPTH = 20
"""Tools of a ranking that are kept: no metric looks further down."""
ASKED = 100
"""Queries of a method that calls a model for each: drawn by seed, before any result is seen."""
MOST_OUTAGES = 5
"""In a row: after so many nobody is asked any further."""


class Outage(AtcError):
    """The model kept failing. What was found until then is in the file; the same command goes on from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one method found for one query, best first, and what it took. `seconds` are those of the whole search.

    `outage`: the model did not answer; `crash`: a bug of ours. Neither says anything of the method: asked again.
    """

    method: str
    id: str
    ranking: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    """Those of the ranking; kept only where more than `DEPTH` tools are."""
    seconds: float = 0.0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    status: Literal["ok", "outage", "crash"] = "ok"
    error: str = ""


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
    spec: str,
    wanted: Wanted,
    data: RetrievalData,
    setup: Setup,
    file: Rows,
    *,
    workers: int = 1,
    watch: Callable[[int], None] = lambda _: None,
) -> list[Row]:
    """A row for each query, in their order; the method is built only where `file` lacks some.

    Only a method that asks a model is asked several queries at once: others share the cores.

    Raises:
        RetrievalUnavailable: a package, vectors or synthetic queries are missing.
        Outage: the model failed `MOST_OUTAGES` times in a row; the file has what was found.
    """
    queries = wanted.queries(spec, data)
    todo = [query for query in queries if file.rows.get((spec, query.id), {}).get("status", "") != "ok"]
    if todo:
        ask = partial(search_once, spec, build(spec, setup), depth=wanted.depth)
        failed = 0
        for done, row in enumerate(as_done(ask, todo, most=workers if read(spec)[0].asks else 1), start=1):
            file.append({key: value for key, value in asdict(row).items() if value or key in ("method", "id")})
            watch(len(queries) - len(todo) + done)
            failed = failed + 1 if row.status == "outage" else 0
            if failed >= MOST_OUTAGES:
                raise Outage(f"{spec}: {row.error} It failed {failed} times in a row; the same command goes on.")
    return rows_of(spec, file, queries)


def rows_of(spec: str, file: Rows, queries: Sequence[RetrievalQuery]) -> list[Row]:
    """The rows of a method that a file has."""
    found = (file.rows.get((spec, query.id)) for query in queries)
    return [_read(row) for row in found if row is not None]


def _read(row: Mapping[str, Any]) -> Row:
    return Row(**{**row, "ranking": tuple(row.get("ranking", ())), "scores": tuple(row.get("scores", ()))})


def search_once(method: str, retriever: Retriever, query: RetrievalQuery, *, depth: int = DEPTH) -> Row:
    """The row of one query. Never raises an `Exception`: what failed on our side is in the row."""
    row, begun = Row(method=method, id=query.id), time.perf_counter()
    try:
        found = retriever.search(query.text, k=depth)
    except AtcError as error:
        return replace(row, status="outage", error=str(error))
    except Exception as error:  # noqa: BLE001 - a bug of ours must neither end hours of work nor count for the method
        return replace(row, status="crash", error=f"{type(error).__name__}: {error}")
    ranking = tuple(dict.fromkeys(hit.tool for hit in found.hits))
    scores = {hit.tool: round(hit.score, 6) for hit in reversed(found.hits)}
    return replace(
        row,
        ranking=ranking,
        scores=tuple(scores[tool] for tool in ranking) if depth > DEPTH else (),
        seconds=round(time.perf_counter() - begun, 6),
        model_calls=found.usage.model_calls,
        input_tokens=found.usage.input_tokens,
        output_tokens=found.usage.output_tokens,
    )
