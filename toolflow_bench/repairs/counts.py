"""The file beside a run's rows that holds what each answer sent by the services' log: a line an answer."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from toolflow_bench.repairs.log import Sent


def counts_beside(rows: Path) -> Path:
    """Where the counts of a file of rows stand."""
    return rows.with_suffix(".sent")


def append(path: Path, id_: str, sent: Sent) -> None:
    """Write one answer's counts; they are on disk when this returns."""
    line = "\n" + json.dumps({"id": id_, **asdict(sent)}) + "\n"  # what a killed run left half-written ends here
    with path.open("a", encoding="utf-8") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def load(path: Path) -> dict[str, Sent]:
    """The last counts of each answer; none where there is no file. A half-written line is passed by."""
    found: dict[str, Sent] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            entry = json.loads(line)
            id_ = entry.pop("id")
            found[id_] = Sent(**entry)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found
