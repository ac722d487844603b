"""How fast a large index answers, opens and takes a new tool, and what it costs to build.

    python benchmarks/retrieval_speed.py [--tools 1000000] [--real 20000] [--data PATH ...] [--folder DIR] [--json]

Documents: the tools of the data sets given (ToolFlow's services always), filled up to `--real` by crossing what one
tool does with the arguments and fields of another; all of these are really embedded. The rest are perturbed copies: two
words of the description changed, and the vector of the original with noise (cosine about 0.94). Building and searching
have a process each, so that neither's memory counts for the other. Recall is against an exact search of all vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from atc.retrieve.document import ToolDocument, vector_text  # noqa: E402
from atc.retrieve.embedders import DEFAULT, choose  # noqa: E402
from atc.retrieve.fuse import Hybrid  # noqa: E402
from atc.retrieve.index import ToolIndex  # noqa: E402
from toolflow_bench.retrieval.data_toolflow import read_toolflow  # noqa: E402
from toolflow_bench.retrieval.load import load_data  # noqa: E402

NOISE = 0.36
"""Length of what is added to a copy's vector, of length one before."""
MOST = 4
"""Arguments and fields of a crossed tool: the others' documents are short, too."""
QUERIES, EXACT = 300, 100
"""Queries that are timed, and those of them that are searched exactly too."""
PART = 1000
"""Originals that are embedded and kept at a time."""
MARK = "~"


def originals(paths: Sequence[str], count: int) -> list[ToolDocument]:
    """`count` different documents, those of the data first."""
    sets = [read_toolflow().data, *(load_data(Path(path)) for path in paths)]
    found = {document.name: document for one in sets for document in one.documents}
    real = list(found.values())
    random.Random(0).shuffle(real)
    for does, takes in product(real, real):
        if len(found) >= count:
            break
        name = f"{does.name} {takes.name}"
        found[name] = replace(
            does,
            name=name,
            parameters=dict(islice(takes.parameters.items(), MOST)),
            required=(),
            returns=takes.returns[:MOST],
        )
    return list(found.values())[:count]


def documents(base: Sequence[ToolDocument], count: int) -> Iterator[ToolDocument]:
    """`count` documents: the originals, then copies of them in turn, each with two words changed."""
    yield from base[:count]
    words = sorted({word for document in base[:2000] for word in document.description.split()})
    for number in range(len(base), count):
        draw = random.Random(number)
        original = base[number % len(base)]
        said = original.description.split() or ["tool"]
        for _ in range(2):
            said[draw.randrange(len(said))] = draw.choice(words)
        yield replace(original, name=f"{original.name}{MARK}{number}", description=" ".join(said))


class Copies:
    """A model for originals and queries; a copy's vector is its original's with noise drawn by its number."""

    def __init__(self, base: Sequence[ToolDocument], kept: Path, name: str) -> None:
        self._real = choose(name)
        self.name, self.dimensions = f"{self._real.name} and copies", self._real.dimensions
        kept.mkdir(exist_ok=True)
        parts = []
        for start in range(0, len(base), PART):
            part = base[start : start + PART]
            digest = hashlib.sha256("".join([name, *(document.digest for document in part)]).encode()).hexdigest()
            path = kept / f"{digest[:16]}.npy"  # so that a run which was stopped goes on
            if not path.exists():
                np.save(path, self._real.documents([vector_text(document) for document in part]))
            parts.append(np.load(path))
        self._vectors = np.concatenate(parts)
        self._rows = {document.name: row for row, document in enumerate(base)}

    def documents(self, texts: Sequence[str]) -> Any:
        """A row a text."""
        found = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            name, _, number = json.loads(text)["name"].partition(MARK)
            if name not in self._rows:
                found[row] = self._real.documents([text])[0]
                continue
            found[row] = self._vectors[self._rows[name]]
            if number:
                noise = np.random.default_rng(int(number)).standard_normal(self.dimensions, dtype=np.float32)
                found[row] += NOISE * noise / np.linalg.norm(noise)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def queries(self, texts: Sequence[str]) -> Any:
        """A row a text, by MiniLM."""
        return self._real.queries(texts)


def build(args: argparse.Namespace) -> dict[str, Any]:
    """Build the index."""
    base = originals(args.data, min(args.real, args.tools))
    begun = time.monotonic()
    embedder = Copies(base, args.folder / "originals", args.embedder)
    embedding = time.monotonic() - begun
    begun = time.monotonic()
    ToolIndex.build(documents(base, args.tools), folder=args.folder / "index", embedder=embedder)
    size = sum(path.stat().st_size for path in (args.folder / "index").rglob("*") if path.is_file())
    return {
        "tools": args.tools,
        "really_embedded": len(base),
        "embedding_originals_seconds": round(embedding, 1),
        "build_seconds": round(time.monotonic() - begun, 1),
        "build_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "disk_mb": round(size / 1e6),
    }


def search(args: argparse.Namespace) -> dict[str, Any]:
    """Open the index, ask it, and add a tool."""
    base = originals(args.data, min(args.real, args.tools))
    embedder = Copies(base, args.folder / "originals", args.embedder)
    queries = asked(args.data, base)
    embedder.queries(queries[:2])
    before = memory()
    begun = time.perf_counter()
    index = ToolIndex.open(args.folder / "index", embedder=embedder)
    opened = time.perf_counter() - begun
    after = memory()
    dense, lexical = index.dense, index.lexical
    assert dense is not None
    hybrid = Hybrid([(dense, 0.8), (lexical, 0.2)])
    vectors = embedder.queries(queries)
    figures = {
        "open_seconds": round(opened, 3),
        "resident_mb_before": before,
        "resident_mb_after_opening": after,
        "embedding": timed(queries, lambda number: embedder.queries([queries[number]])),
        "bm25": timed(queries, lambda number: lexical.top([queries[number]], n=10)),
        "dense_besides_embedding": timed(queries, lambda number: dense.near(vectors[number : number + 1], n=10)),
        "hybrid_in_all": timed(queries, lambda number: hybrid.top([queries[number]], n=10)),
        "resident_mb_after_searching": memory(),
        "dense_recall@10": recall(index, embedder, vectors[:EXACT], base, args.tools),
    }
    added = ToolDocument(name="count_xylozebras", description="Counts the xylozebras of a zoo by their stripes.")
    begun = time.perf_counter()
    index.put([added])
    put = time.perf_counter() - begun
    [found] = hybrid.top(["how many xylozebras has the zoo?"], n=1)
    both = time.perf_counter() - begun
    names = index.names
    return figures | {
        "put_seconds": round(put, 3),
        "put_and_search_seconds": round(both, 3),
        "found_by_next_search": names[int(found.positions[0])] == added.name,
        "search_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def asked(paths: Sequence[str], base: Sequence[ToolDocument]) -> list[str]:
    """Queries of the data, else words of descriptions."""
    texts = [query.text for path in paths for query in load_data(Path(path)).queries]
    texts = texts or [" ".join(document.description.split()[:12]) for document in base if document.description]
    random.Random(1).shuffle(texts)
    return (texts * QUERIES)[:QUERIES]


def timed(queries: Sequence[str], ask: Callable[[int], Any]) -> dict[str, float]:
    """Milliseconds of wall time of each query, after ten to warm up."""
    for number in range(10):
        ask(number)
    took = []
    for number in range(len(queries)):
        begun = time.perf_counter()
        ask(number)
        took.append(1000 * (time.perf_counter() - begun))
    return {f"p{p}_ms": round(float(np.percentile(took, p)), 2) for p in (50, 99)}


def recall(index: ToolIndex, embedder: Copies, vectors: Any, base: Sequence[ToolDocument], count: int) -> float:
    """The share of the exact ten nearest that the index finds."""
    names, scores = np.empty((len(vectors), 0), dtype=object), np.empty((len(vectors), 0), dtype=np.float32)
    everything = documents(base, count)
    while chunk := list(islice(everything, 20_000)):
        own = np.array([document.name for document in chunk], dtype=object)
        found = vectors @ embedder.documents([vector_text(document) for document in chunk]).T
        names = np.concatenate([names, np.broadcast_to(own, found.shape)], axis=1)
        scores = np.concatenate([scores, found], axis=1)
        best = np.argsort(-scores, axis=1)[:, :10]
        names, scores = np.take_along_axis(names, best, axis=1), np.take_along_axis(scores, best, axis=1)
    assert index.dense is not None
    ranked = index.dense.near(vectors, n=10)
    got = [{index.names[int(position)] for position in one.positions} for one in ranked]
    return round(float(np.mean([len(found & set(exact)) / 10 for found, exact in zip(got, names, strict=True)])), 4)


def memory() -> dict[str, int]:
    """Resident megabytes: all, and those that are not pages of files."""
    said = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return {key: round(int(said[name].split()[0]) / 1024) for key, name in (("all", "VmRSS"), ("anon", "RssAnon"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=1_000_000)
    parser.add_argument("--real", type=int, default=20_000)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--embedder", default=DEFAULT)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stage", choices=["build", "search"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.stage:
        print(json.dumps({"build": build, "search": search}[args.stage](args)))
        return
    with TemporaryDirectory() as own:
        folder = args.folder or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        figures: dict[str, Any] = {}
        for stage in ("build", "search"):
            command = [sys.executable, __file__, *sys.argv[1:], "--folder", str(folder), "--stage", stage]
            figures |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    copies = args.tools - figures["really_embedded"]
    said = f"{figures['really_embedded']:,} texts really embedded, {copies:,} perturbed copies"
    if args.json:
        print(json.dumps({"documents": said, **figures}))
        return
    print(said)
    for name, value in figures.items():
        print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
