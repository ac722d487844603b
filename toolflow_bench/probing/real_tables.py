"""Rows of real services and classes, added up and as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolflow_bench.probing.counts import percent, rounded
from toolflow_bench.probing.part import Row
from toolflow_bench.probing.tables import add_counts, columns

_HEAD = (
    *("", "tools", "documented", "of answering", "fields P", "R", "replies", "declared P", "R", "required", "types"),
    *("errors P", "R", "links", "calls/tool", "max", "departures"),
)


def real_total(rows: Sequence[Row], skipped: Mapping[str, str]) -> Row:
    """The counts of all rows by setting, and what was skipped with the reason."""
    settings = dict.fromkeys(row["setting"] for row in rows)
    total: Row = {one: _summed([row for row in rows if row["setting"] == one]) for one in settings}
    return {"settings": total, "skipped": dict(skipped)}


def real_lines(rows: Sequence[Row], total: Row) -> list[str]:
    """A table for each setting, then every departure of a document, once."""
    shown: list[str] = []
    for setting, summed in total["settings"].items():
        body = [_cells(row["name"], row) for row in rows if row["setting"] == setting]
        shown += [f"setting: {setting}", *columns([_HEAD, *body, _cells("all", summed)]), ""]
    for name in dict.fromkeys(row["name"] for row in rows):
        told = dict.fromkeys(
            f"  {one['tool']}: {one['kind']}{': ' + one['where'] if one['where'] else ''}"
            for row in rows
            if row["name"] == name
            for one in row["departures"]
        )
        shown += [f"{name}: {len(told)} departures of its document from what it does", *told, ""]
    shown += [f"skipped  {name}: {why}" for name, why in total["skipped"].items()]
    return shown


def _summed(rows: Sequence[Row]) -> Row:
    calls = [row["calls"] for row in rows]
    tools = sum(row["tools"] for row in rows)
    total = sum(one["total"] for one in calls)
    kinds = {kind for row in rows for kind in row["departures_by_kind"]}
    return {
        "tools": tools,
        "described": sum(row["described"] for row in rows),
        "census": add_counts([row["census"] for row in rows]),
        "score": add_counts([row["score"] for row in rows]),
        "links": sum(row["links"] for row in rows),
        "calls": {"total": total, "mean": rounded(total / tools), "max": max(one["max"] for one in calls)},
        "departures_by_kind": {
            kind: sum(row["departures_by_kind"].get(kind, 0) for row in rows) for kind in sorted(kinds)
        },
    }


def _cells(name: str, row: Row) -> tuple[str, ...]:
    score, calls = row["score"], row["calls"]
    errors = score["errors"]
    return (
        name,
        str(row["tools"]),
        percent(score["documented"]["share"]),
        percent(score["documented_of_seen"]["share"]),
        percent(score["seen"]["precision"]),
        percent(score["seen"]["recall"]),
        percent(score["replies"]["share"]),
        percent(score["declared"]["precision"]),
        percent(score["declared"]["recall"]),
        percent(score["required"]["share"]),
        percent(score["argument_types"]["share"]),
        percent(errors["precision"]),
        percent(errors["recall"]),
        str(row["links"]),
        "–" if calls["mean"] is None else f"{calls['mean']:.1f}",
        str(calls["max"]),
        str(sum(row["departures_by_kind"].values())),
    )
