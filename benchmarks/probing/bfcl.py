"""The suite `bfcl`: BFCL's executable classes as Python sources, against their documents.

Probing gets the methods by name and argument names alone. All of them may be called: an instance lives for one probing.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.bfcl import CLASSES, INSTALL, protocol_of
from benchmarks.probing.real import row_of
from benchmarks.probing.runs import Options, probe_toolbox, strip
from benchmarks.probing.score import Row
from protocols.errors import SourceUnavailable
from protocols.invoke import Invoker, InvokeSettings
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox

_CODE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_MODULE = """import json
from pathlib import Path

from {code}.{module} import {name}

api = {name}()
if hasattr(api, "_load_scenario"):
    api._load_scenario(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))
"""


def measure(name: str, options: Options) -> Row:
    """Probe one class and score what came of it.

    Raises:
        SourceUnavailable: it cannot be imported.
    """
    module, folder = CLASSES[name], options.out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documented = [protocol_of(tool) for tool in _json_lines(_data() / "multi_turn_func_doc" / f"{module}.json")]
    names = {tool.name for tool in documented}
    # A module that makes one instance in the richest state that any task begins with.
    tasks = [
        task for task in _json_lines(max(_data().glob("*_multi_turn_base.json"))) if name in task["involved_classes"]
    ]
    states = [task["initial_config"].get(name, {}) for task in tasks]
    scenario = max(states, key=lambda one: len(json.dumps(one)), default={})
    (folder / f"{module}.json").write_text(json.dumps(scenario), encoding="utf-8")
    text = _MODULE.format(code=_CODE, module=module, name=name)
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    with Invoker(InvokeSettings(retries=0)) as invoker:
        loaded = load_tools(f"{module}={folder / module}.py:api", invoker=invoker)
        calls = {tool.protocol.name: tool.call for tool in loaded.values()}
        given = strip(tool.protocol for tool in loaded.values() if tool.protocol.name in names)
        toolbox = Toolbox(Tool(protocol=one, call=calls[one.name], source=module) for one in given)
        probing = probe_toolbox(toolbox, folder, writes=True, options=options)
    return row_of(name, probing, documented)


def _data() -> Path:
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise SourceUnavailable(f"the package 'bfcl-eval' is not installed: {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "data"


def _json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
