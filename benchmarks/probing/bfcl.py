"""The suite `bfcl`: BFCL's executable classes as Python sources, against their documents and calls that solve tasks.

Probing gets the methods by name and argument names alone. All of them may be called: an instance lives for one probing.
"""

from __future__ import annotations

import ast
import inspect
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.bfcl import CLASSES, INSTALL, protocol_of
from benchmarks.probing.real import real_lines, row_of
from benchmarks.probing.runs import Options, Suite, probe_toolbox, strip, total_by_setting, unit_folder
from benchmarks.probing.score import Row
from protocols.errors import SourceUnavailable
from protocols.invoke import Invoker, InvokeSettings
from protocols.jsontypes import Json, JsonObject
from protocols.plain import to_json
from protocols.protocol import ToolProtocol
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox

_CODE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_OWN_CALLS = 3
_WORDS = ("km", "m", "cm", "AAPL", "ann")
_MODULE = """import json
from pathlib import Path

from {code}.{module} import {name}

api = {name}()
if hasattr(api, "_load_scenario"):
    api._load_scenario(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))
"""
Task = tuple[JsonObject, tuple[str, ...]]
"""The state that a task begins with, and the calls that solve it, as source code."""


def measure_class(unit: str, options: Options) -> Row:
    """Probe one class and score what came of it.

    Raises:
        SourceUnavailable: it cannot be imported.
    """
    name, _, setting = unit.rpartition("-")
    module, folder = CLASSES[name], unit_folder("bfcl", unit, options)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documented = _declared(name)
    names = {tool.name for tool in documented}
    # A module that makes one instance in the richest state that any task begins with.
    scenario = max((scenario for scenario, _ in _tasks(name)), key=lambda one: len(json.dumps(one)), default={})
    (folder / f"{module}.json").write_text(json.dumps(scenario), encoding="utf-8")
    text = _MODULE.format(code=_CODE, module=module, name=name)
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    with Invoker(InvokeSettings(retries=0)) as invoker:
        loaded = load_tools(f"{module}={folder / module}.py:api", invoker=invoker)
        calls = {tool.protocol.name: tool.call for tool in loaded.values()}
        given = strip((tool.protocol for tool in loaded.values() if tool.protocol.name in names), setting)
        toolbox = Toolbox(Tool(protocol=one, call=calls[one.name], source=module) for one in given)
        probing = probe_toolbox(toolbox, folder, writes=True, options=options)
    return row_of(name, setting, probing, documented, _census(name, options.census))


def _declared(name: str) -> list[ToolProtocol]:
    """What its document says of each of its methods."""
    return [protocol_of(tool) for tool in _json_lines(_data() / "multi_turn_func_doc" / f"{CLASSES[name]}.json")]


def _tasks(name: str) -> list[Task]:
    found: list[Task] = []
    for task, answer in zip(_read(_data()), _read(_data() / "possible_answer"), strict=True):
        if name in task["involved_classes"]:
            calls = tuple(call for turn in answer["ground_truth"] for call in turn)
            found.append((task["initial_config"].get(name, {}), calls))
    return found


def _census(name: str, calls: int) -> dict[str, list[Json]]:
    """What its methods answer: to the calls that solve tasks, and to some of our own where no task uses a method.

    Each task's calls are made twice, on instances of their own: one in the task's state, one in another task's.
    """
    tools, known, asked = _declared(name), _tasks(name), 0
    found: dict[str, list[Json]] = {tool.name: [] for tool in tools}
    used: set[str] = set()
    for task, other in zip(known, [*known[1:], *known[:1]], strict=True):
        for scenario in (task[0], other[0]):
            instance = _instance(name, scenario)
            for method, arguments in _calls_of(task, instance, found) if asked < calls else ():
                asked += 1
                used.add(method)
                found[method] += _answer(getattr(instance, method), arguments)
    instance = _instance(name, known[0][0] if known else {})
    for tool in (tool for tool in tools if tool.name not in used):
        for arguments in _by_type(tool):
            found[tool.name] += _answer(getattr(instance, tool.name), arguments)
    return found


def _by_type(tool: ToolProtocol) -> Iterator[dict[str, Json]]:
    """Calls that a document's types allow."""
    for number in range(_OWN_CALLS):
        names = enumerate(tool.parameters.items())
        given = {name: _drawn(schema, number + place) for place, (name, schema) in names}
        yield {name: value for name, value in given.items() if number or name in tool.required}


def _drawn(schema: JsonObject, number: int) -> Json:
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    match schema.get("type"):
        case "integer":
            return number + 1
        case "number":
            return number + 1.5
        case "boolean":
            return number % 2 == 0
        case "array":
            return [_drawn(schema.get("items", {}), number + place) for place in range(3)]
        case "object":
            return {}
        case _:
            return _WORDS[number % len(_WORDS)]


def _answer(method: Any, arguments: dict[str, Json]) -> list[Json]:
    try:
        return [to_json(method(**arguments))]
    except Exception:  # noqa: BLE001 - somebody else's code, which may fail in any way
        return []


def _instance(name: str, scenario: JsonObject) -> Any:
    try:
        instance = getattr(import_module(f"{_CODE}.{CLASSES[name]}"), name)()
    except ImportError as error:
        raise SourceUnavailable(f"{name} cannot be imported ({error}); {INSTALL}") from error
    if hasattr(instance, "_load_scenario"):
        instance._load_scenario(json.loads(json.dumps(scenario)))  # noqa: SLF001 - so the package itself does it
    return instance


def _calls_of(task: Task, instance: Any, tools: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The task's calls of this class: names and arguments by name."""
    for text in task[1]:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in tools:
            given = [ast.literal_eval(part) for part in call.args]
            named = {part.arg: ast.literal_eval(part.value) for part in call.keywords if part.arg}
            bound = inspect.signature(getattr(instance, call.func.id)).bind_partial(*given, **named)
            yield call.func.id, dict(bound.arguments)


def _data() -> Path:
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise SourceUnavailable(f"the package 'bfcl-eval' is not installed: {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "data"


@cache
def _read(folder: Path) -> Sequence[Any]:
    return _json_lines(max(folder.glob("*_multi_turn_base.json")))


def _json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


SUITE = Suite(
    name="bfcl",
    summary="BFCL's executable classes as Python sources",
    units=lambda options: [
        f"{one}-{s}" for s in options.settings for one in (CLASSES if find_spec("bfcl_eval") else ())
    ],
    measure=measure_class,
    total=total_by_setting,
    lines=real_lines,
)
