"""Make queries that take APIs of several categories, each with a solution that was verified (AnyTool, A.8).

The model explores the APIs in at most 20 calls, tries some out, and writes a query of at least 30 words over 2 to 5
categories, with calls that resolve it and the answer. The calls are made again, the answer must follow from their
responses, and the query must pass AnyTool's filter. Tools that may write are left out. Each line of the file is a
query, or one that was refused with the reason: the same command goes on where it was stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_toolbox
from atc.retrieve.asking import Tally
from benchmarks.anytoolbench.construct import ApiPool, construct, pool_of
from benchmarks.runner import Rows, suite
from protocols.ask import Ask

TRIES = 3  # attempts for each query that is wanted, at most


@suite
@click.option("--tools", multiple=True, metavar="SRC", help="Sources of tools; repeatable.")
@click.option("--queries", type=click.IntRange(1), default=10, show_default=True, help="Queries wanted.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--model", metavar="NAME")
def main(tools: tuple[str, ...], queries: int, out: Path, seed: int, model: str | None) -> dict[str, Any]:
    config = load_config({"model": model, "tools": tools})[0]
    with open_toolbox(config, talk=partial(click.echo, err=True)) as toolbox:
        ask = choose_model(config)
        rows = make_queries(pool_of(toolbox), ask, out, count=queries, seed=seed)
    return {"suite": "anytoolbench", "model": ask.name, "out": str(out), **figures(rows)}


def make_queries(pool: ApiPool, ask: Ask, out: Path, *, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Go on until `out` holds `count` queries, or `TRIES` times as many were attempted; gives all rows. Raises
    InvalidRunFile: the file cannot be used or continued; ModelUnavailable: the model did not answer; what is done
    stands, and another run goes on with the next query.
    """
    header = {"format": "atc-anytoolbench-2", "data": f"{len(pool)} APIs", "model": ask.name, "seed": seed}
    with Rows(out, header, key=("id",)) as file, bar("making", total=count) as watch:
        while len(taken := taken_of(file.rows.values())) < count and len(file.rows) < TRIES * count:
            watch(len(taken))
            tally, number = Tally(ask), len(file.rows)
            row = {"id": f"anytool-{seed}-{number:04}", **construct(pool, number, tally, seed=seed)}
            for one in taken if "rejected" not in row else ():
                if row["query"].casefold() == one["query"].casefold() or set(row["gold"]) == set(one["gold"]):
                    row |= {"rejected": "repeated", "detail": f"{one['id']} has the same text or takes the same APIs"}
            file.append({**row, "usage": asdict(tally.usage)})
        return list(file.rows.values())


def taken_of(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The queries, without those that were refused."""
    return [row for row in rows if "rejected" not in row]


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What came of the attempts: `rejected` counts by reason, `categories` the queries by how many theirs are."""
    taken = taken_of(rows)
    return {
        "attempts": len(rows),
        "queries": len(taken),
        "rejected": dict(sorted(Counter(row["rejected"] for row in rows if "rejected" in row).items())),
        "categories": dict(sorted(Counter(str(len(row["categories"])) for row in taken).items())),
        "calls": sum(len(row["solution"]) for row in taken),
        **{key: sum(row["usage"][key] for row in rows) for key in ("model_calls", "input_tokens", "output_tokens")},
    }


if __name__ == "__main__":
    main()
