"""Runs methods over one data set: which queries each is asked, and the search that it is built into."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.methods import METHODS, Setup, build, read
from protocols.jsontypes import Json
from toolflow_bench.lines import InvalidRunFile
from toolflow_bench.retrieval.data import RetrievalData, RetrievalQuery, draw
from toolflow_bench.retrieval.rows import DEPTH, RetrievalFile, RetrievalRow, read_rows
from toolflow_bench.retrieval.suite import ASKED, OnRow, ask_method, data_digest, missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked: `methods` as they are spelled; none: all that need no model for a query.

    `limit` queries are drawn by `seed`; without it a method that asks a model for each query gets `ASKED` of them, any
    other method all. `everything` lifts that.
    """

    methods: tuple[str, ...] = ()
    limit: int | None = None
    everything: bool = False
    seed: int = 0
    depth: int = DEPTH
    """Tools that each search is asked for."""

    def specs(self) -> tuple[str, ...]:
        """The methods as they are spelled.

        Raises:
            UnknownMethod: there is none of that name, or it has no such flag.
        """
        for spec in self.methods:
            read(spec)
        if self.methods:
            return tuple(dict.fromkeys(self.methods))
        return tuple(name for name, method in METHODS.items() if not method.asks)

    def queries(self, spec: str, data: RetrievalData) -> tuple[RetrievalQuery, ...]:
        """The queries that a method is asked, in the data's order."""
        limit = self.limit
        if limit is None and not self.everything and read(spec)[0].asks:
            limit = ASKED
        return data.queries if limit is None else draw(data.queries, limit, seed=self.seed)


def header_of(data: RetrievalData, wanted: Wanted, *, model: str, embedder: str) -> dict[str, Json]:
    """What all rows of a file have in common, and the methods that it was begun with."""
    from atc import __version__

    return {
        "data": data.name,
        "digest": data_digest(data),
        "model": model,
        "embedder": embedder,
        "seed": wanted.seed,
        "version": __version__,
        "methods": list(wanted.specs()),
        **({"depth": wanted.depth} if wanted.depth != DEPTH else {}),
    }


def run_method(
    spec: str,
    wanted: Wanted,
    data: RetrievalData,
    setup: Setup,
    file: RetrievalFile,
    *,
    workers: int = 1,
    on_row: OnRow | None = None,
) -> list[RetrievalRow]:
    """The rows of one method, which is built only where the file lacks some.

    Only a method that asks a model is asked several queries at once: others share the cores.

    Raises:
        RetrievalUnavailable: a package, vectors or synthetic queries are missing; the file says so too.
        Outage: the model kept failing; the file has what was found.
    """
    queries = wanted.queries(spec, data)
    if not missing(spec, queries, file):
        return [file.rows[spec, query.id] for query in queries]
    try:
        retriever = build(spec, setup)
    except RetrievalUnavailable as error:
        file.append(RetrievalRow(method=spec, id="", status="unavailable", error=str(error)))
        raise
    at_once = workers if read(spec)[0].asks else 1
    return ask_method(spec, retriever, queries, file, depth=wanted.depth, workers=at_once, on_row=on_row)


def unfinished(folder: Path, header: dict[str, Json], wanted: Wanted, data: RetrievalData) -> Path | None:
    """The newest file in `folder` of a run that was stopped: begun under the same header, some rows missing."""
    keys = {(spec, query.id) for spec in wanted.specs() for query in wanted.queries(spec, data)}
    for path in sorted(folder.glob("retrieval-*.jsonl"), reverse=True):
        try:
            found, rows = read_rows(path)
        except InvalidRunFile:
            continue
        same = all(found.get(key) == value for key, value in header.items())
        unavailable = {row.method for row in rows if row.status == "unavailable"}
        left = keys - {row.key for row in rows if row.status == "ok"}
        if same and any(method not in unavailable for method, _ in left):
            return path
    return None
