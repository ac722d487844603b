"""Rows of probed services, added up and as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow_bench.probing.counts import Rate, Share, percent, rounded
from toolflow_bench.probing.part import Row


def service_total(rows: Sequence[Row]) -> Row:
    """The counts of all rows, by setting."""
    return {setting: _summed([row for row in rows if row["setting"] == setting]) for setting in _settings(rows)}


def service_lines(rows: Sequence[Row], total: Row) -> list[str]:
    """A table for each setting, a column each for the figures that have targets."""
    shown: list[str] = []
    for setting in _settings(rows):
        head = (
            "service",
            "tools",
            "documented",
            "fields P",
            "R",
            "declared P",
            "R",
            "required",
            "types",
            "enums P",
            "R",
        )
        more = ("errors P", "R", "links P", "real", "R", "calls/tool", "max", "s")
        body = [_cells(row["service"], row) for row in rows if row["setting"] == setting]
        body.append(_cells("all", total[setting]))
        shown += [f"setting: {setting}", *columns([(*head, *more), *body]), ""]
        for row in [*(row for row in rows if row["setting"] == setting), {"service": "all", **total[setting]}]:
            shown += [f"  {row['service']:<9} {_round_line(one)}" for one in row["rounds"]]
        effects = total[setting]["effects"]
        told = ", ".join(f"{name} {percent(one['share'])} of {one['of']}" for name, one in effects.items())
        shown += ["", f"effects that the documents state: {told}", ""]
    return shown


def _round_line(one: Row) -> str:
    seen, links = one["seen"], one["links"]
    return (
        f"after round {one['round']}: {one['calls']:>5} calls, documented {percent(one['documented']['share'])}, "
        f"fields {percent(seen['precision'])} / {percent(seen['recall'])}, "
        f"links {percent(links['precision'])} / {percent(links['recall'])}"
    )


def _settings(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["setting"] for row in rows))


def _cells(name: str, row: Row) -> tuple[str, ...]:
    score, links, calls = row["score"], row["links"], row["calls"]
    enums, errors = score["keywords"]["enum"], score["errors"]
    return (
        name,
        str(row["tools"]),
        percent(score["documented"]["share"]),
        percent(score["seen"]["precision"]),
        percent(score["seen"]["recall"]),
        percent(score["declared"]["precision"]),
        percent(score["declared"]["recall"]),
        percent(score["required"]["share"]),
        percent(score["argument_types"]["share"]),
        percent(enums["precision"]),
        percent(enums["recall"]),
        percent(errors["precision"]),
        percent(errors["recall"]),
        percent(links["declared"]["precision"]),
        percent(links["real"]["share"]),
        percent(links["declared"]["recall"]),
        "–" if calls["mean"] is None else f"{calls['mean']:.1f}",
        str(calls["max"]),
        f"{row['seconds']:.0f}",
    )


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells, each column as wide as its widest cell."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _summed(rows: Sequence[Row]) -> Row:
    rounds = max(len(row["rounds"]) for row in rows)
    return {
        "tools": sum(row["tools"] for row in rows),
        "score": add_counts([row["score"] for row in rows]),
        "links": add_counts([row["links"] for row in rows]),
        "effects": add_counts([row["effects"] for row in rows]),
        "calls": {
            "total": sum(row["calls"]["total"] for row in rows),
            "tools": (tools := sum(row["calls"]["tools"] for row in rows)),
            "mean": rounded(sum(row["calls"]["total"] for row in rows) / tools),
            "max": max(row["calls"]["max"] for row in rows),
            "nowhere": [one for row in rows for one in row["calls"]["nowhere"]],
        },
        # A service that was done earlier stays as it was in later rounds.
        "rounds": [
            {**add_counts([row["rounds"][min(number, len(row["rounds"]) - 1)] for row in rows]), "round": number}
            for number in range(rounds)
        ],
        "seconds": round(sum(row["seconds"] for row in rows), 2),
    }


def add_counts(counts: Sequence[Any]) -> Any:
    """Rates and shares as JSON, summed, their shares taken anew; plain numbers are added."""
    first = counts[0]
    if not isinstance(first, Mapping):
        return sum(counts)
    if first.keys() >= {"right", "said", "wanted"}:
        return sum((Rate(one["right"], one["said"], one["wanted"]) for one in counts), start=Rate()).as_json()
    if first.keys() >= {"right", "of"}:
        return sum((Share(one["right"], one["of"]) for one in counts), start=Share()).as_json()
    return {key: add_counts([one[key] for one in counts]) for key in first}
