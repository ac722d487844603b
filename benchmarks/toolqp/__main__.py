"""Make conversations that teach a model to plan and to search for tools (ToolQP, Algorithm 1).

Each line of the file is a conversation ('messages') for supervised training. What is done is kept beside the file: the
same command goes on where it was stopped.
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

from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.retrieve.asking import Tally
from atc.retrieve.building import Setup, build
from atc.retrieve.embed import choose
from atc.retrieve.index import ToolIndex
from benchmarks.retrieval.data import RetrievalQuery, load_data
from benchmarks.runner import Rows, sampled, suite
from benchmarks.toolqp.trajectory import ROUNDS, Dropped, Making
from protocols.ask import Ask
from protocols.files import write_whole


@suite
@click.option("--data", required=True, metavar="PATH", help="Tools, and queries with the tools that they take.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--limit", type=click.IntRange(1), help="Queries, drawn by --seed.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--model", metavar="NAME")
def main(data: str, out: Path, limit: int | None, workers: int, seed: int, model: str | None) -> dict[str, Any]:
    config, found = load_config({"model": model})[0], load_data(data)
    queries = sampled(found.queries, limit, seed, "queries")
    embedder = choose(config.embedder, folder=config.cache_dir / "models")
    index = ToolIndex.build(found.documents, folder=found.folder(config.cache_dir), embedder=embedder)
    ask = choose_model(config)
    base = build("dense", Setup(index=index, ask=ask))
    making = partial(Making, base=base, documents=index.documents, seed=seed)
    header: dict[str, Any] = {"format": "atc-toolqp-2", "data": found.digest, "model": ask.name, "seed": seed}
    rows = make_all(making, queries, ask, out, header, workers=workers)
    return {"data": found.name, "model": ask.name, "out": str(out), **figures(rows)}


def make_all(
    making: Any, queries: Sequence[RetrievalQuery], ask: Ask, out: Path, header: Mapping[str, Any], *, workers: int = 1
) -> list[dict[str, Any]]:
    """Conversations of `queries` in `out` (JSON Lines, in the queries' order), however often it is interrupted.

    `making` is `Making` with all but a query and a model. Gives the rows of the work file beside it, those of dropped
    requests too. Raises InvalidRunFile: the work file cannot be used or continued; ModelUnavailable: the teacher did
    not answer; what is done stands.
    """

    def make(query: RetrievalQuery) -> dict[str, Any]:
        tally = Tally(ask)
        try:
            made = making(query, tally).make()
        except Dropped as dropped:
            made = {"dropped": str(dropped).partition(":")[0], "detail": str(dropped)}
        return {"id": query.id, **made, "usage": asdict(tally.usage)}

    with Rows(out.with_name(f"{out.stem}.work.jsonl"), header, key=("id",)) as file:
        rows = file.fill(queries, make, key=lambda query: (query.id,), label="making", jobs=workers)
    kept = [{key: value for key, value in row.items() if key != "usage"} for row in rows if "messages" in row]
    write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))
    return rows


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What came of the requests: `valid` counts the steps that were valid in round 1, 2, …, `dropped` by reason."""
    steps = [step for row in rows for step in row.get("steps", ())]
    return {
        "requests": len(rows),
        "trajectories": sum("messages" in row for row in rows),
        "steps": len(steps),
        "valid": {str(number): sum(step["round"] == number for step in steps) for number in range(1, ROUNDS + 1)},
        "dropped": dict(sorted(Counter(row["dropped"] for row in rows if "dropped" in row).items())),
        **{key: sum(row["usage"][key] for row in rows) for key in ("model_calls", "input_tokens", "output_tokens")},
    }


if __name__ == "__main__":
    main()
