"""The part `bfcl`: BFCL's executable classes as Python sources, against their documents and calls that solve its tasks.

Probing gets the methods by name and argument names alone. All of them may be called: an instance lives for one probing.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from protocols.invoke import Invoker, InvokeSettings
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.probing.bfcl_classes import CLASSES, INSTALL, BfclClass, census, declared, missing, write_module
from toolflow_bench.probing.part import Options, Part, Row, unit_folder
from toolflow_bench.probing.prober import probe_toolbox
from toolflow_bench.probing.real_probing import Seen, row_of
from toolflow_bench.probing.real_tables import real_lines, real_total
from toolflow_bench.probing.strip import Setting, strip

NAME = "bfcl"


def measure_class(bfcl: BfclClass, setting: str, options: Options) -> Row:
    """Probe one class and score what came of it.

    Raises:
        SourceUnavailable: it cannot be imported.
    """
    folder = unit_folder(NAME, f"{bfcl.name}-{setting}", options)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documented = declared(bfcl)
    names = {tool.name for tool in documented}
    with Invoker(InvokeSettings(retries=0)) as invoker:
        loaded = load_tools(f"{bfcl.module}={write_module(bfcl, folder)}", invoker=invoker)
        calls = {tool.protocol.name: tool.call for tool in loaded.values() if tool.protocol.name in names}
        known = [tool.protocol for tool in loaded.values() if tool.protocol.name in names]
        given = strip(known, cast("Setting", setting))
        toolbox = Toolbox(Tool(protocol=one, call=calls[one.name], source=bfcl.module) for one in given)
        probing = probe_toolbox(toolbox, folder, writes=True, options=options)
    return row_of(bfcl.name, setting, probing, documented, Seen(calls=census(bfcl, options.census)))


def _skipped() -> dict[str, str]:
    if why := missing():
        return {"bfcl": why}
    return {} if find_spec("mpmath") else {"MathAPI": f"it needs 'mpmath', which is not installed: {INSTALL}"}


def _units(options: Options) -> Sequence[str]:
    skipped = _skipped()
    here = [one for one in CLASSES if "bfcl" not in skipped and one.name not in skipped]
    return [f"{one.name}-{setting}" for setting in options.settings for one in here]


def _measure(unit: str, options: Options) -> Row:
    name, _, setting = unit.rpartition("-")
    return measure_class(next(one for one in CLASSES if one.name == name), setting, options)


PART = Part(
    name=NAME,
    summary="BFCL's executable classes as Python sources",
    units=_units,
    measure=_measure,
    total=lambda rows: real_total(rows, _skipped()),
    lines=real_lines,
)
