"""Asks retrievers the queries of a data set, one by one or several at once; can be stopped at any time."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from functools import partial

from atc.retrieve.base import Retriever
from atc.retrieve.side_by_side import SideBySide
from protocols.errors import AtcError
from toolflow_bench.retrieval.data import RetrievalData, RetrievalQuery
from toolflow_bench.retrieval.rows import DEPTH, RetrievalFile, RetrievalRow

ASKED = 100
"""Queries of a method that calls a model for each: drawn by seed, before any result is seen."""

MOST_OUTAGES = 5
"""In a row: after so many nobody is asked any further."""

OnRow = Callable[[RetrievalRow, int, int], None]
"""Told of each new row, with how many of how many the method has. Called from one thread."""


class Outage(AtcError):
    """The model kept failing. What was found until then is in the file; the same command goes on from there."""


def data_digest(data: RetrievalData) -> str:
    """Changes when a tool, a query or a label does."""
    said = [[d.digest for d in data.documents], [[q.id, q.text, sorted(q.gold)] for q in data.queries]]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def ask_method(
    method: str,
    retriever: Retriever,
    queries: Sequence[RetrievalQuery],
    file: RetrievalFile,
    *,
    depth: int = DEPTH,
    workers: int = 1,
    on_row: OnRow | None = None,
) -> list[RetrievalRow]:
    """A row of `depth` tools for each query, in their order; `file` has each as soon as it is known.

    What the file has a row of is not asked again, except after an outage or a crash.

    Raises:
        Outage: the model failed `MOST_OUTAGES` times in a row.
        InvalidRunFile: the file cannot be written.
    """
    todo = missing(method, queries, file)
    done, failed = len(queries) - len(todo), 0
    for row in _answered(partial(search_once, method, retriever, depth=depth), todo, workers):
        file.append(row)
        done += 1
        failed = failed + 1 if row.status == "outage" else 0
        if on_row is not None:
            on_row(row, done, len(queries))
        if failed >= MOST_OUTAGES:
            raise Outage(
                f"{method}: {row.error} It failed {failed} times in a row; what was found is kept in "
                f"{str(file.path)!r}, and the same command goes on from there."
            )
    return [file.rows[method, query.id] for query in queries]


def missing(method: str, queries: Sequence[RetrievalQuery], file: RetrievalFile) -> list[RetrievalQuery]:
    """The queries for which the file has no good row of a method."""
    known = {id_ for (of, id_), row in file.rows.items() if of == method and row.status == "ok"}
    return [query for query in queries if query.id not in known]


def search_once(method: str, retriever: Retriever, query: RetrievalQuery, *, depth: int = DEPTH) -> RetrievalRow:
    """The row of one query. Never raises an `Exception`: what failed on our side is in the row."""
    row = RetrievalRow(method=method, id=query.id)
    begun = time.perf_counter()
    try:
        found = retriever.search(query.text, k=depth)
    except AtcError as error:
        return replace(row, status="outage", error=str(error), seconds=_since(begun))
    except Exception as error:  # noqa: BLE001 - a bug of ours must neither end hours of work nor count for the method
        return replace(row, status="crash", error=f"{type(error).__name__}: {error}", seconds=_since(begun))
    hits = {hit.tool: round(hit.score, 6) for hit in reversed(found.hits)}
    ranking = tuple(dict.fromkeys(hit.tool for hit in found.hits))
    return replace(
        row,
        ranking=ranking,
        scores=tuple(hits[tool] for tool in ranking) if depth > DEPTH else (),
        seconds=_since(begun),
        model_calls=found.usage.model_calls,
        input_tokens=found.usage.input_tokens,
        output_tokens=found.usage.output_tokens,
    )


def _since(begun: float) -> float:
    return round(time.perf_counter() - begun, 6)


def _answered(
    search: Callable[[RetrievalQuery], RetrievalRow], todo: Sequence[RetrievalQuery], workers: int
) -> Iterator[RetrievalRow]:
    """A row for each query, as they come."""
    if workers <= 1 or len(todo) <= 1:
        for query in todo:
            yield search(query)
        return
    with SideBySide(workers) as searches:  # after Ctrl-C what is under way is not waited for: it is asked on resume
        futures = [searches.submit(search, query) for query in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
