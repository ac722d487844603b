"""The part `recordings`: responses that others recorded, and the schemas inferred from them."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow_bench.probing.part import Options, Part, Row
from toolflow_bench.probing.recordings import figures, lines, replay


def _units(options: Options) -> Sequence[str]:
    return ["autotools"] if options.recordings is not None else []


def _measure(_unit: str, options: Options) -> Row:
    assert options.recordings is not None, "there is no unit without"
    rows = replay(options.recordings)
    return {"figures": figures(rows), "lines": lines(rows), "rows": [row.as_json() for row in rows]}


PART = Part(
    name="recordings",
    summary="recorded responses, and the schemas inferred from them",
    units=_units,
    measure=_measure,
    total=lambda rows: rows[0]["figures"] if rows else {},
    lines=lambda rows, _total: rows[0]["lines"] if rows else ["not measured: give --recordings DIR"],
    resumes=False,
)
