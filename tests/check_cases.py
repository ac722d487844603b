"""The programs under tests/data/check: what each is checked against, and what must be found in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("data") / "check"


@dataclass(frozen=True)
class Case:
    """One line of a data file."""

    name: str
    tools: str
    """Its toolbox, as `check_lab.toolbox` reads it."""
    source: str
    expect: tuple[tuple[str, int], ...] = ()
    """Codes and lines, in the order of the lines."""
    says: tuple[str, ...] = ()
    """Words that the messages hold."""


def cases(name: str) -> list[Case]:
    """The programs of the data file `name`, without its `.jsonl`."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [
        Case(
            **row | {"expect": tuple((code, line) for code, line in row["expect"]), "says": tuple(row.get("says", ()))}
        )
        for row in rows
    ]
