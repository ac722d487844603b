"""A part of the probing bench: its units, how one is measured, and what is said of all. It resumes by its rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocols.ask import Ask
from protocols.files import write_whole
from sandbox.base import Sandbox

Row = dict[str, Any]
"""What was measured of one unit, as plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a part is measured. `out` is the folder of everything that is written, `cache` that of the services' data."""

    out: Path
    cache: Path | None = None
    settings: tuple[str, ...] = ("names",)
    services: tuple[str, ...] = ()
    """None: all."""
    seed: int = 0
    census: int = 300
    """Calls of one service's census."""
    per_tool: int = 15
    """Calls of one tool that probing may make."""
    recordings: Path | None = None
    """Folder of recorded responses; None: they are not looked at."""
    model: str = "none"
    """Who proposes values and words: the name of `ask`, which is None for nobody. Its programs run in `sandbox`."""
    ask: Ask | None = None
    sandbox: Sandbox | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`units` names what is measured one by one, `measure` measures one, `total` and `lines` tell of all rows."""

    name: str
    summary: str
    units: Callable[[Options], Sequence[str]]
    measure: Callable[[str, Options], Row]
    total: Callable[[Sequence[Row]], Row]
    lines: Callable[[Sequence[Row], Row], list[str]]
    resumes: bool = True
    """Whether a row that is there is taken as it is; not where it rests on what other parts wrote."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A part's rows, by unit, and what they come to."""

    part: Part
    rows: Mapping[str, Row] = field(default_factory=dict)

    @property
    def total(self) -> Row:
        """Over all units."""
        return self.part.total(list(self.rows.values()))

    def as_json(self) -> Row:
        """The rows by unit, and the total."""
        return {"units": dict(self.rows), "total": self.total}

    def lines(self) -> list[str]:
        """A table for people."""
        return self.part.lines(list(self.rows.values()), self.total)


def run_part(part: Part, options: Options, *, on_unit: Callable[[str, bool], None] | None = None) -> Measured:
    """Measure every unit of a part that has no row yet under `options.out`.

    `on_unit` is told of each unit before it is measured, and whether its row was there already. Rows of other models,
    seeds and numbers of calls stand elsewhere.
    """
    rows: dict[str, Row] = {}
    for unit in part.units(options):
        path = row_path(part, unit, options)
        known = _read(path) if part.resumes else None
        if on_unit is not None:
            on_unit(unit, known is not None)
        if known is None:
            known = part.measure(unit, options)
            write_whole(path, json.dumps(known, ensure_ascii=False, indent=1) + "\n")
        rows[unit] = known
    return Measured(part, rows)


def row_path(part: Part, unit: str, options: Options) -> Path:
    """Where a unit's row stands."""
    return unit_folder(part.name, unit, options) / "row.json"


def unit_folder(part: str, unit: str, options: Options) -> Path:
    """The folder of all that is written of one unit."""
    model = re.sub(r"[^\w.-]+", "_", options.model)
    return options.out / part / f"{unit}-{model}-{options.per_tool}-seed{options.seed}"


def _read(path: Path) -> Row | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
