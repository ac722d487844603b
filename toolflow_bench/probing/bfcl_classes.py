"""BFCL's executable classes, where its package is installed: documents, scenarios, and calls that solve tasks.

Nothing of BFCL is copied: the classes, what is said of them, and the tasks are read from the installed package.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from protocols.errors import SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.parsing import parse_expression
from protocols.plain import to_json
from protocols.protocol import ToolProtocol
from toolflow_bench.probing.real_departures import Observation

INSTALL = "pip install --no-deps bfcl-eval mpmath"

_CODE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_DOCUMENTS, _TASKS, _ANSWERS = "multi_turn_func_doc", "*_multi_turn_base.json", "possible_answer"

_TYPES = {"dict": "object", "float": "number", "list": "array", "tuple": "array", "bool": "boolean", "int": "integer"}
_OWN_CALLS = 3
_WORDS = ("km", "m", "cm", "AAPL", "ann")
_PLAIN = ("object", "number", "array", "boolean", "integer", "string", "null")


@dataclass(frozen=True, slots=True)
class BfclClass:
    """A class: its name, and that of its module, which is that of its document too."""

    name: str
    module: str


CLASSES = (
    BfclClass("GorillaFileSystem", "gorilla_file_system"),
    BfclClass("TradingBot", "trading_bot"),
    BfclClass("TravelAPI", "travel_booking"),
    BfclClass("TicketAPI", "ticket_api"),
    BfclClass("MessageAPI", "message_api"),
    BfclClass("MathAPI", "math_api"),
    BfclClass("TwitterAPI", "posting_api"),
    BfclClass("VehicleControlAPI", "vehicle_control"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """A task that uses a class: the state that it begins with, and the calls that solve it, as source code."""

    scenario: JsonObject
    calls: tuple[str, ...]


def missing() -> str:
    """Why the classes cannot be measured here; empty where they can."""
    return "" if find_spec("bfcl_eval") else f"the package 'bfcl-eval' is not installed: {INSTALL}"


def declared(bfcl: BfclClass) -> list[ToolProtocol]:
    """What its document says of each of its methods."""
    path = _data() / _DOCUMENTS / f"{bfcl.module}.json"
    return [protocol_of(tool) for tool in _json_lines(path)]


def tasks(bfcl: BfclClass) -> list[Task]:
    """The tasks that use the class, each with its calls of all classes, in the package's order."""
    found = []
    for task, answer in zip(_read(_data()), _read(_data() / _ANSWERS), strict=True):
        if bfcl.name in task["involved_classes"]:
            calls = tuple(call for turn in answer["ground_truth"] for call in turn)
            found.append(Task(task["initial_config"].get(bfcl.name, {}), calls))
    return found


def write_module(bfcl: BfclClass, folder: Path) -> str:
    """A module that makes one instance in the richest state that any task begins with; it is given as a source."""
    scenario = max((task.scenario for task in tasks(bfcl)), key=lambda one: len(json.dumps(one)), default={})
    (folder / f"{bfcl.module}.json").write_text(json.dumps(scenario), encoding="utf-8")
    text = f"""import json
from pathlib import Path

from {_CODE}.{bfcl.module} import {bfcl.name}

api = {bfcl.name}()
if hasattr(api, "_load_scenario"):
    api._load_scenario(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))
"""
    path = folder / f"{bfcl.module}.py"
    path.write_text(text, encoding="utf-8")
    return f"{path}:api"


def census(bfcl: BfclClass, calls: int) -> dict[str, list[Observation]]:
    """What its methods answer: to the calls that solve tasks, and to some of our own where no task uses a method.

    Each task's calls are made twice, on instances of their own: one in the task's state, one in another task's, where
    much of it is refused. A refusal that comes as a response is one.

    Raises:
        SourceUnavailable: the class cannot be imported.
    """
    tools = declared(bfcl)
    found: dict[str, list[Observation]] = {tool.name: [] for tool in tools}
    known = tasks(bfcl)
    others = [*known[1:], *known[:1]]
    for task, other in zip(known, others, strict=True):
        for scenario in (task.scenario, other.scenario):
            instance = _instance(bfcl, scenario)
            for name, arguments in _calls_of(task, instance, found):
                if sum(map(len, found.values())) < calls:
                    found[name].append(_call(getattr(instance, name), arguments))
    instance = _instance(bfcl, known[0].scenario if known else {})
    for tool in tools:
        if not found[tool.name]:
            found[tool.name] += [_call(getattr(instance, tool.name), arguments) for arguments in _by_type(tool)]
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


def _call(method: Any, arguments: dict[str, Json]) -> Observation:
    try:
        return Observation(arguments=arguments, done=True, response=to_json(method(**arguments)))
    except Exception:  # noqa: BLE001 - somebody else's code, which may fail in any way
        return Observation(arguments=arguments, done=False)


def _instance(bfcl: BfclClass, scenario: JsonObject) -> Any:
    try:
        instance = getattr(import_module(f"{_CODE}.{bfcl.module}"), bfcl.name)()
    except ImportError as error:
        raise SourceUnavailable(f"{bfcl.name} cannot be imported ({error}); {INSTALL}") from error
    if hasattr(instance, "_load_scenario"):
        instance._load_scenario(json.loads(json.dumps(scenario)))  # noqa: SLF001 - so the package itself does it
    return instance


def _calls_of(task: Task, instance: Any, tools: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The task's calls of this class: names and arguments by name."""
    for text in task.calls:
        call = parse_expression(text).body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in tools:
            given = [ast.literal_eval(part) for part in call.args]
            named = {part.arg: ast.literal_eval(part.value) for part in call.keywords if part.arg}
            bound = inspect.signature(getattr(instance, call.func.id)).bind_partial(*given, **named)
            yield call.func.id, dict(bound.arguments)


def protocol_of(tool: JsonObject) -> ToolProtocol:
    """A function's document as a protocol: its types are spelled as Python's."""
    return ToolProtocol(
        name=tool["name"],
        description=tool.get("description", ""),
        input_schema=_schema(tool.get("parameters", {})),
        output_schema=_schema(tool["response"]) if "response" in tool else None,
    )


def _schema(part: JsonObject) -> dict[str, Any]:
    """A schema in BFCL's own words → JSON Schema: what it names no type of is open."""
    kind = _TYPES.get(part.get("type", ""), part.get("type"))
    schema: dict[str, Any] = {"type": kind} if kind in _PLAIN else {}
    if isinstance(properties := part.get("properties"), Mapping):
        schema["properties"] = {name: _schema(inner) for name, inner in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(inner := part.get(key), Mapping):
            schema[key] = _schema(inner)
    for key in ("required", "enum"):
        if isinstance(part.get(key), list):
            schema[key] = part[key]
    return schema


def _data() -> Path:
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise SourceUnavailable(missing())
    return Path(spec.submodule_search_locations[0]) / "data"


@cache
def _read(folder: Path) -> Sequence[Any]:
    found = sorted(folder.glob(_TASKS))
    if not found:
        raise SourceUnavailable(f"this bfcl-eval has no tasks {_TASKS!r} in {str(folder)!r}; install another version.")
    return _json_lines(found[-1])


def _json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
