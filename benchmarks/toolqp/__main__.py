"""Generate conversations that teach a model to plan and to search for tools.

This is Algorithm 1 of the ToolQP paper. Each line of the output file is a conversation for
supervised training. Run the same command again to continue an interrupted run. `planner.py`
describes how to train a planner with rewards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.wiring import choose_model
from atc.pipeline.retrieve.embed import choose_embedder
from atc.pipeline.retrieve.factory import Setup, build
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.model_replies import Tally
from atc.settings.reading import load_config
from benchmarks.retrieval.data import RetrievalQuery, load_data
from benchmarks.runner import Rows, draw_sample, suite, sum_usage
from benchmarks.toolqp.trajectory import ROUNDS, TrajectoryMaker, UnusableRequest
from protocols.model import Ask
from protocols.private_files import write_whole


@suite
@click.option(
    "--data",
    required=True,
    metavar="PATH",
    help="Tools, and queries with the tools that they take.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--limit", type=click.IntRange(1), help="Queries, drawn by --seed.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--model", metavar="NAME")
def main(
    data: str, out: Path, limit: int | None, workers: int, seed: int, model: str | None
) -> dict[str, Any]:
    config = load_config({"model": model})
    found = load_data(data)
    queries = draw_sample(found.queries, limit, seed, "queries")
    embedder = choose_embedder(config.embedder, folder=config.cache_dir / "models")
    index = ToolIndex.build(
        found.documents, folder=found.folder(config.cache_dir), embedder=embedder
    )
    ask = choose_model(config)
    base = build("dense", Setup(index=index, ask=ask))
    making = partial(TrajectoryMaker, base=base, documents=index.documents, seed=seed)
    header: dict[str, Any] = {
        "format": "atc-toolqp-2",
        "data": found.digest,
        "model": ask.name,
        "seed": seed,
    }
    rows = make_all(making, queries, ask, out, header, workers=workers)
    return {"data": found.name, "model": ask.name, "out": str(out), **figures(rows)}


def make_all(
    making: Any,
    queries: Sequence[RetrievalQuery],
    ask: Ask,
    out: Path,
    header: Mapping[str, Any],
    *,
    workers: int = 1,
) -> list[dict[str, Any]]:
    """Write the conversations for `queries` to the file `out`, in order.

    Return the rows of the work file, which has the results so far. It is kept beside `out`, so that
    an interrupted run continues from it.
    """

    def make(query: RetrievalQuery) -> dict[str, Any]:
        tally = Tally(ask)
        try:
            made = making(query, tally).make()
        except UnusableRequest as dropped:
            made = {"dropped": str(dropped).partition(":")[0], "detail": str(dropped)}
        return {"id": query.id, **made, "usage": asdict(tally.usage)}

    with Rows(out.with_name(f"{out.stem}.work.jsonl"), header, key=("id",)) as file:
        rows = file.fill(queries, make, key=lambda query: (query.id,), label="making", jobs=workers)
    lines = []
    for row in rows:
        if "messages" in row:
            kept = {key: value for key, value in row.items() if key != "usage"}
            lines.append(json.dumps(kept, ensure_ascii=False) + "\n")
    write_whole(out, "".join(lines))
    return rows


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the conversations that were made, and sum up what they cost.

    Each of `rows` is the result of one request: its conversation, or the reason why none was made.
    In a conversation, the model writes search queries for each goal of a plan until one query finds
    the goal's tools. In the result, `steps` is the number of goals in all conversations. `valid`
    says for how many of them the first, second, … round of queries found the tools. `dropped` is
    the number of requests without a conversation, keyed by the reason.
    """
    steps = [step for row in rows for step in row.get("steps", ())]
    rounds = Counter(step["round"] for step in steps)
    return {
        "requests": len(rows),
        "trajectories": sum("messages" in row for row in rows),
        "steps": len(steps),
        "valid": {str(number): rounds[number] for number in range(1, ROUNDS + 1)},
        "dropped": dict(
            sorted(Counter(row["dropped"] for row in rows if "dropped" in row).items())
        ),
        **sum_usage(rows),
    }


if __name__ == "__main__":
    main()
