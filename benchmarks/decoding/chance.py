"""The suites `random` and `gold`: no model, but random logits and adversaries, and a judge that knows no grammar.

Calls of the tools of ToolFlow, RestBench, BFCL and LiveMCP are decoded one tool at a time, in all formats. The gold
calls of FuncQA, BFCL and RestBench are held against the grammars, their arguments in up to six orders.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atc.decode.errors import Undecodable
from atc.decode.formats import FORMATS, FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from atc.decode.grammar import call_grammar, judge
from atc.decode.matcher import ToolMatcher, sample
from atc.decode.read import read_call, write_as
from benchmarks.catalogues import CLASSES, bfcl_tools, service_tools
from benchmarks.decoding.questions import gold_texts, operations
from benchmarks.restbench.data import RestWorld, items, load_restbench
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

CALLS = 2_000
FOLDER = Path("../shared/data")  # has the folders bfcl, restbench, funcqa and livemcp; see its README
MOST_TOKENS = 4_096  # a call with more is unfinished
_ADVERSE: Mapping[str, Callable[[bytes], float]] = {
    "longest": lambda token: float(len(token)),
    "never ending": lambda token: -float(bool(set(b"\"'}]),\n`") & set(token))),
    "quotes": lambda token: float(bool(set(b"\"'`\\") & set(token))),
    "digits": lambda token: float(token.strip().isdigit()),
    "foreign": lambda token: float(any(byte > 127 for byte in token)),
}
"""Adversaries: what each likes, as a score of a token."""
SAMPLERS = ("0.3", "0.7", "1.0", "1.5", *_ADVERSE)  # temperatures of random logits, and adversaries
_ORDERS = 6


def measure(tokenizer: Any, data: Path, *, calls: int, seed: int) -> dict[str, Any]:
    """Which tools compile, what random calls of those come to, and which gold calls their grammars take."""
    every = {source: Toolbox(tools) for source, tools in catalogues(data)}
    good, rejected, unheld = [], [], []
    for source, tool in [(source, tool) for source, tools in every.items() for tool in tools.values()]:
        (alone,) = Toolbox([tool]).values()  # under an alias of its own
        try:
            grammars = [call_grammar(Toolbox([tool]), form) for form in FORMATS.values()]
            for grammar in grammars:
                judge(grammar.text, "")
        except Undecodable as error:
            rejected.append(f"{source} {tool.alias}: {error}")
            continue
        good.append((source, alone))
        unheld += [f"{source} {clause}" for clause in grammars[0].unheld]
    rng = random.Random(seed)
    rng.shuffle(good)
    texts = [tokenizer.decode_bytes([token]) for token in range(tokenizer.vocab_size if calls else 0)]
    likes = {name: np.array([like(text) for text in texts]) for name, like in _ADVERSE.items()}
    verdicts, misses = Counter[str](), []
    for number in range(calls):
        source, tool = good[number % len(good)]
        form = list(FORMATS.values())[(number // len(good) + number) % len(FORMATS)]
        sampler = rng.choice(SAMPLERS)
        verdict, why = decoded(tool, form, tokenizer, likes.get(sampler, sampler), seed=seed + number)
        verdicts[verdict] += 1
        if verdict != "valid":
            misses.append(f"{verdict}: {source} {tool.alias} {form.name} {sampler}: {why}")
    tools = {source: len(tools) for source, tools in every.items()}
    found = {"tools": tools, "compiled": len(good), "rejected": rejected, "unheld": unheld}
    return {**found, "verdicts": dict(verdicts), "misses": misses, "gold": gold_rows(data)}


def catalogues(data: Path) -> Iterator[tuple[str, list[Tool]]]:
    """The tools of each source."""
    yield "ToolFlow", list(service_tools().values())
    for api, tools in load_restbench(data / "restbench").tools.items():
        yield f"RestBench {api}", list(tools.values())
    yield "BFCL", [tool for tools in bfcl_tools(data).values() for tool in tools.values()]
    listed = json.loads((data / "livemcp" / "tools.json").read_text(encoding="utf-8"))
    servers = [server for one in listed for server in one["tools"].values()]
    many = [(tool, one["server_name"]) for one in servers for tool in one["tools"]]
    protocols = [(ToolProtocol(name=one["name"], input_schema=one["inputSchema"]), source) for one, source in many]
    yield "LiveMCP", [Tool(protocol=protocol, call=dict, source=source) for protocol, source in protocols]


def decoded(tool: Tool, form: CallFormat, tokenizer: Any, likes: Any, *, seed: int) -> tuple[str, str]:
    """Decode and judge one call: `valid`, `invalid`, `unfinished`, or `unheld` (it breaks a clause that was listed)."""
    rng, tools, plain = np.random.default_rng(seed), Toolbox([tool]), replace(form, trigger="")
    matcher, noise = ToolMatcher(tools, tokenizer, plain), rng.standard_normal(tokenizer.vocab_size)
    scores = noise * (3.0 / float(likes)) if isinstance(likes, str) else likes * 30.0 + noise
    while not matcher.is_finished and len(matcher.tokens) < MOST_TOKENS:
        # The same scores at each place would repeat one token for ever: they move on, as a model's do.
        rolled = np.roll(scores, 7919 * (len(matcher.tokens) % 61))
        matcher.advance(sample(rolled, matcher.allowed(), temperature=1.0, rng=rng))
    if not matcher.is_finished:
        return "unfinished", f"{MOST_TOKENS} tokens: {matcher.text[:200]}"
    why = problem(matcher.text, tool, plain)
    return "valid" if not why else "unheld" if call_grammar(tools, form).unheld else "invalid", why


def problem(text: str, tool: Tool, form: CallFormat) -> str:
    """What is wrong with a text that should be one call: `json` or `ast` must parse it, and the host take the call."""
    start, end = form.before + tool.alias + form.between, len(text) - len(form.after)
    if not text.startswith(start) or not text.endswith(form.after):
        return f"it is not {start}…{form.after}"
    inside = text[len(start) : end]
    try:
        if form.arguments == "json":
            json.loads(inside)
        else:
            ast.parse(f"f({inside})", mode="eval", feature_version=(3, 11))
    except (ValueError, SyntaxError, RecursionError) as error:
        return f"{error}: {inside[:100]}"
    call = read_call(text, Toolbox([tool]), form)
    return call.error.message if call.error else ""


class Gold(NamedTuple):
    """A gold call as its data write it: what stands between the parentheses, or a JSON object."""

    source: str
    tool: Tool
    form: CallFormat
    text: str


def gold_rows(data: Path) -> dict[str, Any]:
    """By source: calls that conform to their schema, their orders, and those that the grammar refuses."""
    found: dict[str, Any] = {}
    for gold in gold_calls(data):
        (alone,) = Toolbox([gold.tool]).values()
        gold = gold._replace(tool=alone)
        row = found.setdefault(gold.source, {"calls": 0, "orders": 0, "refused": [], "lacking": 0})
        start = gold.form.before + gold.tool.alias + gold.form.between
        if problem(start + gold.text + gold.form.after, gold.tool, gold.form):
            row["lacking"] += 1  # it does not conform to its own schema
            continue
        grammar = call_grammar(Toolbox([gold.tool]), gold.form).text
        row["calls"] += 1
        for text in orders(gold):
            row["orders"] += 1
            if judge(grammar, start + text + gold.form.after) != "complete":
                row["refused"].append(f"{gold.tool.alias}({text})")
    return found


def orders(gold: Gold) -> Iterator[str]:
    """The gold call's arguments as they are written, then in other orders."""
    yield gold.text
    if gold.form.arguments == "json":
        for pairs in islice(permutations(json.loads(gold.text).items()), 1, _ORDERS):
            yield json.dumps(dict(pairs), ensure_ascii=False)
    elif gold.form.arguments == "keywords":
        call: Any = ast.parse(f"f({gold.text})", mode="eval").body
        words = [f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords]
        yield from map(", ".join, islice(permutations(words), 1, _ORDERS))


def gold_calls(data: Path) -> Iterator[Gold]:
    """FuncQA's numbers by position; BFCL's ground truth by keyword and as JSON; RestBench's operations, called with the
    examples and defaults of their parameters.
    """
    tools = operations()
    for name in ("train", "one_hop"):
        for alias, text in gold_texts(json.loads((data / "funcqa" / f"{name}.json").read_text(encoding="utf-8"))):
            yield Gold(f"FuncQA {name}", tools[alias], FUNCTION, text)
    boxes = bfcl_tools(data)
    for task in json.loads((data / "bfcl" / "multi_turn_base.json").read_text(encoding="utf-8")):
        known = {t.protocol.name: t for name in task["involved_classes"] for t in boxes[CLASSES[name]].values()}
        for written in (call for turn in task["ground_truth"] for call in turn):
            yield from _bfcl(written, known)
    world = RestWorld(bench := load_restbench(data / "restbench"))
    for alias in (name for item in items(bench, world.toolbox, seed=0) for name in item.gold):
        tool = world.toolbox[alias]
        examples = {name: _example(schema) for name, schema in tool.protocol.parameters.items()}
        arguments = {a: examples[name] for a, name in tool.arguments.items() if examples[name] is not None}
        if arguments and tool.required <= arguments.keys():
            yield Gold("RestBench", tool, JSON_CALL, json.dumps(arguments))
            yield Gold("RestBench", tool, PYTHON_CALL, write_as(tool, arguments, PYTHON_CALL)[len(alias) + 1 : -1])


def _bfcl(written: str, known: Mapping[str, Tool]) -> Iterator[Gold]:
    call: Any = ast.parse(written, mode="eval").body
    tool = known[call.func.id]
    names = {name: alias for alias, name in tool.arguments.items()}
    # What is given by position is given by the name of its place.
    pairs = [*zip(tool.protocol.parameters, call.args, strict=False), *((w.arg, w.value) for w in call.keywords)]
    named = [(names.get(name, name), node) for name, node in pairs]
    text = written[len(call.func.id) + 1 : -1]
    if call.args:
        text = ", ".join(f"{alias}={ast.get_source_segment(written, node)}" for alias, node in named)
    yield Gold("BFCL", tool, PYTHON_CALL, text)
    yield Gold("BFCL", tool, JSON_CALL, json.dumps({alias: ast.literal_eval(node) for alias, node in named}))


def _example(schema: Mapping[str, Any]) -> Json:
    """An example or default; Spotify's document writes numbers as texts."""
    known = next((one for one in (*schema.get("examples", ()), schema.get("default")) if one is not None), None)
    if isinstance(known, str) and schema.get("type") in ("integer", "number", "boolean"):
        try:
            known = json.loads(known)
        except ValueError:
            return None
    return known
