"""Speed and cost of a large index: building, opening, searching, and adding a tool.

The documents are the tools of the data sets. Up to `--real` more documents are made by combining
the description of one tool with the arguments of another; all of these are embedded. The rest are
copies with two words changed; the vector of a copy is the original's vector with noise (cosine
about 0.94). Building and searching run in separate processes, so that the memory of each can be
measured. Recall is relative to an exact search of all vectors.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import resource
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

import click
import numpy as np

from atc.pipeline.retrieve.document import ToolDocument, vector_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.embed import choose_embedder
from atc.pipeline.retrieve.embedders import DEFAULT
from atc.pipeline.retrieve.fuse import Hybrid
from atc.pipeline.retrieve.index import ToolIndex
from benchmarks.local import resident_bytes
from benchmarks.retrieval.data import load_data
from benchmarks.runner import measure_seconds, suite

NOISE = 0.36
"""Length of the noise that is added to the vector of a copy, which has the length 1."""
MOST = 4
"""Maximum number of arguments and of response fields of a combined tool.

Real documents are about as short.
"""
QUERIES = 300
"""Number of queries that are timed."""
EXACT = 100
"""Number of the timed queries that are also answered by an exact search."""
PART = 1000
"""Number of original documents that are embedded and stored at a time."""
MARK = "~"


def originals(paths: Sequence[str], count: int) -> list[ToolDocument]:
    """Return `count` different documents: those of the data first, then made-up ones.

    A made-up document combines the description of one tool with the arguments of another.
    """
    found = {
        document.name: document
        for path in ("toolflow", *paths)
        for document in load_data(path).documents
    }
    real = list(found.values())
    random.Random(0).shuffle(real)
    for does, takes in product(real, real):
        if len(found) >= count:
            break
        name = f"{does.name} {takes.name}"
        parameters = dict(islice(takes.parameters.items(), MOST))
        found[name] = replace(
            does, name=name, parameters=parameters, required=(), returns=takes.returns[:MOST]
        )
    return list(found.values())[:count]


def documents(base: Sequence[ToolDocument], count: int) -> Iterator[ToolDocument]:
    """Yield `count` documents: the originals, then copies of them with two words changed."""
    yield from base[:count]
    words = sorted({word for document in base[:2000] for word in document.description.split()})
    for number in range(len(base), count):
        draw = random.Random(number)
        original = base[number % len(base)]
        description = original.description.split() or ["tool"]
        for _ in range(2):
            description[draw.randrange(len(description))] = draw.choice(words)
        yield replace(
            original, name=f"{original.name}{MARK}{number}", description=" ".join(description)
        )


class Copies:
    """An embedder for the benchmark's documents (originals and copies of them) and queries.

    The vector of a copy is its original's vector with noise, which depends on the copy's number.
    """

    def __init__(self, base: Sequence[ToolDocument], kept: Path, name: str) -> None:
        self._real = choose_embedder(name)
        self.name = f"{self._real.name} and copies"
        self.dimensions = self._real.dimensions
        kept.mkdir(exist_ok=True)
        parts = []
        for start in range(0, len(base), PART):
            part = base[start : start + PART]
            digest = hashlib.sha256(
                "".join([name, *(document.digest for document in part)]).encode()
            ).hexdigest()
            path = kept / f"{digest[:16]}.npy"  # so that a run which was stopped goes on
            if not path.exists():
                np.save(path, self._real.embed([vector_text(document) for document in part]))
            parts.append(np.load(path))
        self._vectors = np.concatenate(parts)
        self._rows = {document.name: row for row, document in enumerate(base)}

    def embed(self, texts: Sequence[str]) -> Any:
        found = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            name, _, number = (
                json.loads(text)["name"].partition(MARK) if text.startswith("{") else ("", "", "")
            )
            if name not in self._rows:
                found[row] = self._real.embed([text])[0]
                continue
            found[row] = self._vectors[self._rows[name]]
            if number:
                noise = np.random.default_rng(int(number)).standard_normal(
                    self.dimensions, dtype=np.float32
                )
                found[row] += NOISE * noise / np.linalg.norm(noise)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def build(base: Sequence[ToolDocument], count: int, folder: Path, name: str) -> dict[str, Any]:
    embedder, embedding = measure_seconds(lambda: Copies(base, folder / "originals", name))
    index = folder / "index"
    _, building = measure_seconds(
        lambda: ToolIndex.build(documents(base, count), folder=index, embedder=embedder)
    )
    figures: dict[str, Any] = {"tools": count, "really_embedded": len(base)}
    figures |= {
        "embedding_originals_seconds": round(embedding, 1),
        "build_seconds": round(building, 1),
    }
    size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return figures | {"build_peak_mb": round(peak / 1024), "disk_mb": round(size / 1e6)}


def search(
    base: Sequence[ToolDocument], count: int, folder: Path, name: str, asked: Sequence[str]
) -> dict[str, Any]:
    embedder = Copies(base, folder / "originals", name)
    texts = [*asked] or [
        " ".join(document.description.split()[:12]) for document in base if document.description
    ]
    random.Random(1).shuffle(texts)
    queries = (texts * QUERIES)[:QUERIES]
    embedder.embed(queries[:2])
    before = resident_bytes(os.getpid())
    index, opened = measure_seconds(
        lambda: ToolIndex(DocumentStore(folder / "index"), embedder=embedder)
    )
    after = resident_bytes(os.getpid())
    dense = index.dense
    lexical = index.lexical
    assert dense is not None
    hybrid = Hybrid([(dense, 0.8), (lexical, 0.2)])
    vectors = embedder.embed(queries)
    figures = {
        "open_seconds": round(opened, 3),
        "embedding": latency(lambda number: embedder.embed([queries[number]])),
        "bm25": latency(lambda number: lexical.top([queries[number]], n=10)),
        "dense_besides_embedding": latency(
            lambda number: dense.near(vectors[number : number + 1], n=10)
        ),
        "hybrid_in_all": latency(lambda number: hybrid.top([queries[number]], n=10)),
        "dense_recall@10": recall(dense, vectors[:EXACT]),
    }
    held = {
        "before": before,
        "after_opening": after,
        "after_searching": resident_bytes(os.getpid()),
    }
    figures |= {f"resident_mb_{when}": size >> 20 for when, size in held.items()}
    added = ToolDocument(
        name="count_xylozebras", description="Counts the xylozebras of a zoo by their stripes."
    )
    everything = [*documents(base, count), added]
    index, took = measure_seconds(
        lambda: ToolIndex.build(everything, folder=folder / "index", embedder=embedder)
    )
    [found] = index.lexical.top(["how many xylozebras has the zoo?"], n=1)
    by_next_search = index.names[int(found.positions[0])] == added.name
    return figures | {
        "one_tool_more_seconds": round(took, 3),
        "found_by_next_search": by_next_search,
    }


def latency(ask: Callable[[int], Any]) -> dict[str, float]:
    """Return percentiles of a query's duration in milliseconds, after ten queries as a warm-up."""
    took = [
        1000 * measure_seconds(partial(ask, number))[1] for number in (*range(10), *range(QUERIES))
    ]
    return {f"p{p}_ms": round(float(np.percentile(took[10:], p)), 2) for p in (50, 99)}


def recall(dense: Any, vectors: Any) -> float:
    """Return the share of the ten nearest vectors (by exact search) that the index finds, too."""
    shares = []
    for vector, ranked in zip(vectors, dense.near(vectors, n=10), strict=True):
        exact = np.argsort(-dense.scores_of(vector[None])[0])[:10]
        shares.append(len({*ranked.positions.tolist()} & {*exact.tolist()}) / 10)
    return round(float(np.mean(shares)), 4)


@suite
@click.option("--tools", default=1_000_000, show_default=True)
@click.option("--real", default=20_000, show_default=True)
@click.option("--data", multiple=True)
@click.option("--embedder", default=DEFAULT, show_default=True)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("retrieval-speed"), show_default=True
)
def main(
    tools: int, real: int, data: tuple[str, ...], embedder: str, folder: Path
) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    given = (originals(data, min(real, tools)), tools, folder, embedder)
    asked = [query.text for path in data for query in load_data(path).queries]
    figures: dict[str, Any] = {"suite": "retrieval_speed"}
    for work in (partial(build, *given), partial(search, *given, asked)):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
            figures |= alone.submit(work).result()
    return figures


if __name__ == "__main__":
    main()
