"""The gold calls of FuncQA, BFCL and RestBench, and whether the grammars accept them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

from atc.models.decode.formats import FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from atc.models.decode.grammar import call_grammar, classify_text
from atc.models.decode.parse import write_as
from benchmarks.catalogues import CLASSES, bfcl_tools
from benchmarks.decoding.calls import call_problem
from benchmarks.decoding.questions import gold_texts, operations
from benchmarks.restbench.data import RestWorld, items, load_restbench
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox

_ORDERS = 6
"""Maximum number of orders in which the arguments of a call are tried."""


class GoldCallText(NamedTuple):
    """The arguments of a gold call, as text in the notation of its data set.

    `text` is what stands between the parentheses, or a JSON object.
    """

    source: str
    tool: Tool
    form: CallFormat
    text: str


def gold_rows(data: Path) -> dict[str, Any]:
    """Count the gold calls of each source, and the orders of their arguments that were tried.

    `refused` lists the calls, with their order of arguments, that the grammar rejects. `lacking`
    counts calls that do not conform to the schema of their own tool.
    """
    found: dict[str, Any] = {}
    for gold in gold_calls(data):
        (alone,) = Toolbox([gold.tool]).values()
        gold = gold._replace(tool=alone)
        row = found.setdefault(gold.source, {"calls": 0, "orders": 0, "refused": [], "lacking": 0})
        start = gold.form.before + gold.tool.alias + gold.form.between
        if call_problem(start + gold.text + gold.form.after, gold.tool, gold.form):
            row["lacking"] += 1  # it does not conform to its own schema
            continue
        grammar = call_grammar(Toolbox([gold.tool]), gold.form).text
        row["calls"] += 1
        for text in orders(gold):
            row["orders"] += 1
            if classify_text(grammar, start + text + gold.form.after) != "complete":
                row["refused"].append(f"{gold.tool.alias}({text})")
    return found


def orders(gold: GoldCallText) -> Iterator[str]:
    """Yield a gold call's arguments as text, in the order of the data and then in other orders."""
    yield gold.text
    if gold.form.arguments == "json":
        for pairs in islice(permutations(json.loads(gold.text).items()), 1, _ORDERS):
            yield json.dumps(dict(pairs), ensure_ascii=False)
    elif gold.form.arguments == "keywords":
        call: Any = ast.parse(f"f({gold.text})", mode="eval").body
        words = [f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords]
        yield from map(", ".join, islice(permutations(words), 1, _ORDERS))


def gold_calls(data: Path) -> Iterator[GoldCallText]:
    """Yield the gold calls of FuncQA, BFCL and RestBench.

    FuncQA's have positional arguments. BFCL's are yielded twice, with keyword arguments and as
    JSON. RestBench gives no arguments, so the examples in its API document are used.
    """
    tools = operations()
    for name in ("train", "one_hop"):
        path = data / "funcqa" / f"{name}.json"
        for alias, text in gold_texts(json.loads(path.read_text(encoding="utf-8"))):
            yield GoldCallText(f"FuncQA {name}", tools[alias], FUNCTION, text)
    yield from _bfcl_calls(data)
    yield from _restbench_calls(data)


def _bfcl_calls(data: Path) -> Iterator[GoldCallText]:
    boxes = bfcl_tools(data)
    for task in json.loads((data / "bfcl" / "multi_turn_base.json").read_text(encoding="utf-8")):
        known: dict[str, Tool] = {}
        for name in task["involved_classes"]:
            known |= {tool.protocol.name: tool for tool in boxes[CLASSES[name]].values()}
        for written in (call for turn in task["ground_truth"] for call in turn):
            yield from _bfcl(written, known)


def _restbench_calls(data: Path) -> Iterator[GoldCallText]:
    bench = load_restbench(data / "restbench")
    world = RestWorld(bench)
    for alias in (name for item in items(bench, world.toolbox, seed=0) for name in item.gold):
        tool = world.toolbox[alias]
        examples = {name: _example(schema) for name, schema in tool.protocol.parameters.items()}
        given = {argument: examples[name] for argument, name in tool.arguments.items()}
        arguments = {argument: value for argument, value in given.items() if value is not None}
        if arguments and tool.required <= arguments.keys():
            call = write_as(tool, arguments, PYTHON_CALL)
            yield GoldCallText("RestBench", tool, JSON_CALL, json.dumps(arguments))
            yield GoldCallText("RestBench", tool, PYTHON_CALL, call[len(alias) + 1 : -1])


def _bfcl(written: str, known: Mapping[str, Tool]) -> Iterator[GoldCallText]:
    call: Any = ast.parse(written, mode="eval").body
    tool = known[call.func.id]
    names = {name: alias for alias, name in tool.arguments.items()}
    # A positional argument is written by name.
    pairs = [
        *zip(tool.protocol.parameters, call.args, strict=False),
        *((w.arg, w.value) for w in call.keywords),
    ]
    named = [(names.get(name, name), node) for name, node in pairs]
    text = written[len(call.func.id) + 1 : -1]
    if call.args:
        text = ", ".join(
            f"{alias}={ast.get_source_segment(written, node)}" for alias, node in named
        )
    yield GoldCallText("BFCL", tool, PYTHON_CALL, text)
    yield GoldCallText(
        "BFCL",
        tool,
        JSON_CALL,
        json.dumps({alias: ast.literal_eval(node) for alias, node in named}),
    )


def _example(schema: Mapping[str, Any]) -> Json:
    """Return an example or default value of a schema, or None.

    Spotify's document writes numbers as strings. They are converted.
    """
    known = next(
        (one for one in (*schema.get("examples", ()), schema.get("default")) if one is not None),
        None,
    )
    if isinstance(known, str) and schema.get("type") in ("integer", "number", "boolean"):
        try:
            known = json.loads(known)
        except ValueError:
            return None
    return known
