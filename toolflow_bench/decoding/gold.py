"""Gold calls of FuncQA, BFCL and RestBench as their data write them, each with whether it conforms to its schema."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from atc.decode.formats import ArgumentForm
from protocols.jsontypes import Json
from protocols.parsing import parse_expression
from protocols.schema import resolve, violations
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.funcqa.operations import operations
from toolflow_bench.probing.bfcl_classes import CLASSES
from toolflow_bench.probing.bfcl_classes import protocol_of as bfcl_protocol
from toolflow_bench.restbench.data import APIS, operations_of, pattern

_FUNCQA_CALL = re.compile(r"<?(\w+)>?\(([^()]*)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The arguments of one gold call.

    `text` is what stands between the parentheses, as written (`positional`, `keywords`), or a JSON object; `form` says
    which. `why` says what does not conform where `conforms` is false.
    """

    source: str
    tool: Tool
    form: ArgumentForm
    text: str
    conforms: bool
    why: str = ""


def gold_calls(data: Path) -> list[Gold]:
    """Every gold call that `data` holds, in the order of its files; sets that are absent give none."""
    return [*funcqa_gold(data), *bfcl_gold(data), *restbench_gold(data)]


def funcqa_gold(data: Path) -> Iterator[Gold]:
    """FuncQA's training rows and one-hop questions: numbers by position."""
    tools = operations()
    for name in ("train", "one_hop"):
        path = data / "funcqa" / f"{name}.json"
        if path.is_file():
            for alias, text in _funcqa_texts(json.loads(path.read_text(encoding="utf-8"))):
                yield _gold(f"FuncQA {name}", tools[alias], "positional", text)


def _funcqa_texts(content: Any) -> Iterator[tuple[str, str]]:
    """Names and arguments: training rows write calls out, questions list them."""
    rows = content if isinstance(content, list) else content["one_hop"]
    for row in rows:
        for written in row.get("tar_eq", ()):
            if found := _FUNCQA_CALL.match(written):
                yield found[1], found[2]
        for call in row.get("calls", ()):
            if "name" in call:
                yield call["name"], ", ".join(call["args"])
            elif found := _FUNCQA_CALL.search(call["raw"]):
                yield found[1], found[2]


def bfcl_gold(data: Path) -> Iterator[Gold]:
    """BFCL's ground truth: keyword arguments as written, and the same as a JSON object."""
    path = data / "bfcl" / "multi_turn_base.json"
    if not path.is_file():
        return
    toolboxes = bfcl_tools(data)
    of_class = {one.name: one.module for one in CLASSES}
    for task in json.loads(path.read_text(encoding="utf-8")):
        boxes = [toolboxes[of_class[name]] for name in task["involved_classes"]]
        for written in (call for turn in task["ground_truth"] for call in turn):
            yield from _bfcl_forms(written, boxes)


def _bfcl_forms(written: str, boxes: list[Toolbox]) -> Iterator[Gold]:
    call = parse_expression(written).body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    tool = next(box.find(call.func.id) for box in boxes if call.func.id in {t.protocol.name for t in box.values()})
    aliases = {name: alias for alias, name in tool.arguments.items()}
    names = iter(tool.protocol.parameters)
    # What is given by position is given by the name of its place.
    pairs = [(next(names, f"argument {i}"), node) for i, node in enumerate(call.args, 1)]
    pairs += [(part.arg or "**", part.value) for part in call.keywords]
    arguments = {aliases.get(name, name): ast.literal_eval(node) for name, node in pairs}
    text = written[len(call.func.id) + 1 : -1]
    if call.args:
        text = ", ".join(f"{aliases.get(name, name)}={ast.get_source_segment(written, node)}" for name, node in pairs)
    yield _gold("BFCL", tool, "keywords", text, arguments)
    yield _gold("BFCL", tool, "json", json.dumps(arguments), arguments)


def bfcl_tools(data: Path) -> dict[str, Toolbox]:
    """The functions of each of BFCL's executable classes, by module; nobody calls them."""
    documents = json.loads((data / "bfcl" / "func_docs.json").read_text(encoding="utf-8"))
    return {
        one.module: Toolbox(Tool(bfcl_protocol(f), _nobody, source=one.module) for f in documents[one.module])
        for one in CLASSES
    }


def _nobody(arguments: Mapping[str, Json]) -> Json:
    raise NotImplementedError(f"called with {arguments}")


def restbench_gold(data: Path) -> Iterator[Gold]:
    """RestBench's gold paths name operations only: each is called with the examples and defaults of its parameters."""
    for api in APIS:
        document, tasks = data / "restbench" / f"{api}_oas.json", data / "restbench" / f"{api}_tasks.json"
        if not (document.is_file() and tasks.is_file()):
            continue
        tools = load_tools(f"{api}={document}")
        aliases = operations_of(tools, api)
        for task in json.loads(tasks.read_text(encoding="utf-8")):
            for step in task["gold_path"]:
                if alias := _operation(pattern(step), aliases):
                    yield from _with_examples(tools[alias])


def _operation(step: str, aliases: Mapping[str, str]) -> str | None:
    """The tool of a gold step: operations' paths begin with that of their server."""
    method, _, path = step.partition(" ")
    found = [name for name in aliases if name.startswith(f"{method} ") and name.endswith(path)]
    return aliases[min(found, key=len)] if found else None


def _with_examples(tool: Tool) -> Iterator[Gold]:
    given: dict[str, Json] = {}
    for alias, name in tool.arguments.items():
        schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
        known = [*schema.get("examples", ()), *(schema[key] for key in ("example", "default") if key in schema)]
        if known and known[0] is not None:
            given[alias] = _unquoted(known[0], schema)
    if given and tool.required <= given.keys():
        yield _gold("RestBench", tool, "json", json.dumps(given), given)
        yield _gold("RestBench", tool, "keywords", ", ".join(f"{k}={v!r}" for k, v in given.items()), given)


def _unquoted(value: Json, schema: Mapping[str, Any]) -> Json:
    """Spotify's document writes numbers as texts."""
    if isinstance(value, str) and schema.get("type") in ("integer", "number", "boolean"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _gold(source: str, tool: Tool, form: ArgumentForm, text: str, arguments: Mapping[str, Json] | None = None) -> Gold:
    why = ""
    if arguments is None:
        try:
            arguments = _by_position(tool, text)
        except ValueError as error:
            return Gold(source=source, tool=tool, form=form, text=text, conforms=False, why=str(error))
    if strangers := arguments.keys() - tool.arguments.keys():
        why = f"there is no argument {', '.join(sorted(strangers))}"
    elif found := violations(tool.protocol.input_schema, tool.original(arguments)):
        why = f"{found[0].path or 'the arguments'}: {found[0].message}"
    return Gold(source=source, tool=tool, form=form, text=text, conforms=not why, why=why)


def _by_position(tool: Tool, text: str) -> dict[str, Json]:
    """FuncQA's numbers, quotients computed."""
    written = [part.strip() for part in text.split(",")] if text.strip() else []
    if len(written) > len(tool.arguments):
        raise ValueError(f"{len(written)} arguments are more than {len(tool.arguments)}")
    return dict(zip(tool.arguments, map(_number, written), strict=False))


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    top, slash, bottom = text.partition("/")
    try:
        number = Fraction(top) / Fraction(bottom) if slash else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{text!r} is no number") from None
    return float(number)
