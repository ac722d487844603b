"""Planted rules: in how many calls does the protocol of a fake tool state the rule that the tool hides?

Each rule's tools are probed alone, over real HTTP, from their names and argument names, writes allowed. Then the
protocols are made anew from the first calls alone, 1, 2, 3 …: the count is the first from which on all state it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from statistics import median
from typing import Any

from toolflow_bench.probing.counts import percent
from toolflow_bench.probing.part import Options, Part, Row, unit_folder
from toolflow_bench.probing.planted import RULES, Planted
from toolflow_bench.probing.planted.fake import fake_app
from toolflow_bench.probing.prober import Probing, documented, run_probing
from toolflow_bench.services.serve import serve

_SHOWN = 4


def measure_rule(planted: Planted, options: Options) -> Row:
    """Probe one rule's tools and count."""
    folder = unit_folder("rules", planted.name, options)
    shutil.rmtree(folder, ignore_errors=True)
    with serve(fake_app(planted)) as served:
        probing = run_probing(
            [tool.protocol(served.url) for tool in planted.tools],
            folder,
            name="planted",
            writes=True,
            options=options,
        )
        calls = served.app.state.calls
    verdicts = [
        planted.stated(documented(probing.given, probing.samples[:number]))
        for number in range(len(probing.samples) + 1)
    ]
    return {
        "name": planted.name,
        "rule": planted.rule,
        "calls": calls_until(verdicts),
        "once": any(verdicts),
        "made": sum(calls.values()),
        "nowhere": calls[""],
        "tools": len(planted.tools),
        "seconds": round(probing.seconds, 2),
        **({} if verdicts[-1] else {"answers": _answers(probing)}),
    }


def calls_until(verdicts: Sequence[bool]) -> int | None:
    """After how many calls the rule is stated, and stays so; None where it is not stated in the end."""
    if not verdicts or not verdicts[-1]:
        return None
    return max((number + 1 for number, stated in enumerate(verdicts) if not stated), default=0)


def _answers(probing: Probing) -> list[str]:
    """The different answers by which the tools refused, for those who look for causes."""
    refused = dict.fromkeys(
        f"{sample.tool}{sorted(sample.plain.items())} → {sample.status} {(sample.answer or sample.error)[:200]}"
        for sample in probing.samples
        if not sample.done
    )
    return list(refused)[-_SHOWN:]


def _measure(unit: str, options: Options) -> Row:
    return measure_rule(next(planted for planted in RULES if planted.name == unit), options)


def _total(rows: Sequence[Row]) -> Row:
    stated = [row["calls"] for row in rows if row["calls"] is not None]
    return {
        "rules": len(rows),
        "stated": len(stated),
        "share": round(len(stated) / len(rows), 4) if rows else None,
        "median_calls": median(stated) if stated else None,
        "most_calls": max(stated, default=None),
        "never": [row["name"] for row in rows if row["calls"] is None],
    }


def _lines(rows: Sequence[Row], total: dict[str, Any]) -> list[str]:
    width = max(len(row["name"]) for row in rows)
    shown = [f"{row['name']:<{width}}  {_count(row)}  of {row['made']:>3} calls  {row['rule']}" for row in rows]
    share = f"{total['stated']} of {total['rules']} ({percent(total['share'])})"
    return [
        *shown,
        "",
        f"stated   {share}, after {total['median_calls']} calls in the median, {total['most_calls']} at most",
    ]


def _count(row: Row) -> str:
    return "never" if row["calls"] is None else f"{row['calls']:>5}"


PART = Part(
    name="rules",
    summary="fake tools that hide one rule each",
    units=lambda _options: [planted.name for planted in RULES],
    measure=_measure,
    total=_total,
    lines=_lines,
)
