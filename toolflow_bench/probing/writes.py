"""All operations of ToolFlow's services, writes allowed: what they do to the world is to be found out too."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow_bench.probing.part import Options, Part, Row
from toolflow_bench.probing.service import measure_service
from toolflow_bench.probing.tables import service_lines, service_total
from toolflow_bench.services.service import NAMES

NAME = "writes"


def units(options: Options) -> Sequence[str]:
    """A service and a setting each."""
    return [f"{service}-{setting}" for setting in options.settings for service in options.services or NAMES]


def _measure(unit: str, options: Options) -> Row:
    service, _, setting = unit.rpartition("-")
    return measure_service(service, setting, options, part=NAME, writes=True)


PART = Part(
    name=NAME,
    summary="all of ToolFlow's operations, writes allowed",
    units=units,
    measure=_measure,
    total=service_total,
    lines=service_lines,
)
