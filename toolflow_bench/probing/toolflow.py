"""Reading operations of ToolFlow's services, probed from bare descriptions over real HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow_bench.probing.part import Options, Part, Row
from toolflow_bench.probing.service import measure_service
from toolflow_bench.probing.tables import service_lines, service_total
from toolflow_bench.services.service import NAMES


def _units(options: Options) -> Sequence[str]:
    return [f"{service}-{setting}" for setting in options.settings for service in options.services or NAMES]


def _measure(unit: str, options: Options) -> Row:
    service, _, setting = unit.rpartition("-")
    return measure_service(service, setting, options, part="toolflow", writes=False)


PART = Part(
    name="toolflow",
    summary="ToolFlow's reading operations",
    units=_units,
    measure=_measure,
    total=service_total,
    lines=service_lines,
)
