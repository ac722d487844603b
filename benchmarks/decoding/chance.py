"""The decoding suites without questions: `random`, `gold`, `speed` and `overhead`.

`random`: calls of the tools of ToolFlow, RestBench, BFCL and LiveMCP, decoded one tool at a time,
in all formats, from random logits and adversarial scores. The calls are judged without the grammar.
`gold`: the gold calls of FuncQA, BFCL and RestBench are matched against the grammars, with their
arguments in up to six orders. `speed` and `overhead`: the cost of masks and grammars.
"""

from __future__ import annotations

import ast
import json
import os
import random
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from llguidance import LLTokenizer

from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import FORMATS, FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from atc.models.decode.grammar import call_grammar, classify_text
from atc.models.decode.matcher import ToolMatcher, sample
from atc.models.decode.parse import read_call, write_as
from atc.models.decode.prompt import call_prompt
from atc.models.local import LocalModel
from benchmarks.catalogues import CLASSES, bfcl_tools, service_tools
from benchmarks.decoding.questions import gold_texts, operations
from benchmarks.local import cpu_seconds, process_family
from benchmarks.restbench.data import RestWorld, items, load_restbench
from benchmarks.runner import measure_seconds
from protocols.model import Message
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.task import load_tasks

CALLS = 2_000
FOLDER = Path(
    "../shared/data"
)  # has the folders bfcl, restbench, funcqa and livemcp; see its README
MOST_TOKENS = 4_096  # a call with more is unfinished
_ADVERSE: Mapping[str, Callable[[bytes], float]] = {
    "longest": lambda token: float(len(token)),
    "never ending": lambda token: -float(bool(set(b"\"'}]),\n`") & set(token))),
    "quotes": lambda token: float(bool(set(b"\"'`\\") & set(token))),
    "digits": lambda token: float(token.strip().isdigit()),
    "foreign": lambda token: float(any(byte > 127 for byte in token)),
}
"""Adversaries: each scores tokens by what it prefers."""
SAMPLERS = ("0.3", "0.7", "1.0", "1.5", *_ADVERSE)  # temperatures of random logits, and adversaries
_ORDERS = 6


def measure(tokenizer: Any, data: Path, *, calls: int, seed: int) -> dict[str, Any]:
    """Return the tools that compile, the verdicts on random calls, and the gold calls' results."""
    every = {source: Toolbox(tools) for source, tools in catalogues(data)}
    good = []
    rejected = []
    unheld = []
    for source, tool in [
        (source, tool) for source, tools in every.items() for tool in tools.values()
    ]:
        (alone,) = Toolbox([tool]).values()  # under an alias of its own
        try:
            grammars = [call_grammar(Toolbox([tool]), form) for form in FORMATS.values()]
            for grammar in grammars:
                classify_text(grammar.text, "")
        except Undecodable as error:
            rejected.append(f"{source} {tool.alias}: {error}")
            continue
        good.append((source, alone))
        unheld += [f"{source} {clause}" for clause in grammars[0].unenforced]
    rng = random.Random(seed)
    rng.shuffle(good)
    texts = [
        tokenizer.decode_bytes([token]) for token in range(tokenizer.vocab_size if calls else 0)
    ]
    likes = {name: np.array([like(text) for text in texts]) for name, like in _ADVERSE.items()}
    verdicts = Counter[str]()
    misses = []
    for number in range(calls):
        source, tool = good[number % len(good)]
        form = list(FORMATS.values())[(number // len(good) + number) % len(FORMATS)]
        sampler = rng.choice(SAMPLERS)
        verdict, why = decode_call(
            tool, form, tokenizer, likes.get(sampler, sampler), seed=seed + number
        )
        verdicts[verdict] += 1
        if verdict != "valid":
            misses.append(f"{verdict}: {source} {tool.alias} {form.name} {sampler}: {why}")
    tools = {source: len(tools) for source, tools in every.items()}
    found = {"tools": tools, "compiled": len(good), "rejected": rejected, "unheld": unheld}
    return {**found, "verdicts": dict(verdicts), "misses": misses, "gold": gold_rows(data)}


def catalogues(data: Path) -> Iterator[tuple[str, list[Tool]]]:
    yield "ToolFlow", list(service_tools().values())
    for api, tools in load_restbench(data / "restbench").tools.items():
        yield f"RestBench {api}", list(tools.values())
    yield "BFCL", [tool for tools in bfcl_tools(data).values() for tool in tools.values()]
    listed = json.loads((data / "livemcp" / "tools.json").read_text(encoding="utf-8"))
    servers = [server for one in listed for server in one["tools"].values()]
    many = [(tool, one["server_name"]) for one in servers for tool in one["tools"]]
    protocols = [
        (ToolProtocol(name=one["name"], input_schema=one["inputSchema"]), source)
        for one, source in many
    ]
    yield (
        "LiveMCP",
        [Tool(protocol=protocol, call=dict, source=source) for protocol, source in protocols],
    )


def decode_call(
    tool: Tool, form: CallFormat, tokenizer: Any, likes: Any, *, seed: int
) -> tuple[str, str]:
    """Decode one call and return its verdict with a reason.

    The verdict is `valid`, `invalid`, `unfinished`, or `unheld` (it breaks a clause that the
    grammar lists as unenforced).
    """
    rng = np.random.default_rng(seed)
    tools = Toolbox([tool])
    plain = replace(form, trigger="")
    matcher = ToolMatcher(tools, tokenizer, plain)
    noise = rng.standard_normal(tokenizer.vocab_size)
    scores = noise * (3.0 / float(likes)) if isinstance(likes, str) else likes * 30.0 + noise
    while not matcher.is_finished and len(matcher.tokens) < MOST_TOKENS:
        # The same scores at each place would repeat one token for ever: they move on, as a model's
        # do.
        rolled = np.roll(scores, 7919 * (len(matcher.tokens) % 61))
        matcher.advance(sample(rolled, matcher.allowed_mask(), temperature=1.0, rng=rng))
    if not matcher.is_finished:
        return "unfinished", f"{MOST_TOKENS} tokens: {matcher.text[:200]}"
    why = problem(matcher.text, tool, plain)
    if not why:
        return "valid", why
    return "unheld" if call_grammar(tools, form).unenforced else "invalid", why


def problem(text: str, tool: Tool, form: CallFormat) -> str:
    """Return what is wrong with a text that should be one call; empty if nothing is.

    `json` or `ast` must parse its arguments, and the host must accept the call.
    """
    start = form.before + tool.alias + form.between
    end = len(text) - len(form.after)
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


class GoldCallText(NamedTuple):
    """A gold call in its data's notation: the text between the parentheses, or a JSON object."""

    source: str
    tool: Tool
    form: CallFormat
    text: str


def gold_rows(data: Path) -> dict[str, Any]:
    """Count gold calls and their orders, by source.

    `refused` are orders that the grammar rejects; `lacking` counts calls that do not fit their
    schema.
    """
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
            if classify_text(grammar, start + text + gold.form.after) != "complete":
                row["refused"].append(f"{gold.tool.alias}({text})")
    return found


def orders(gold: GoldCallText) -> Iterator[str]:
    """Yield the gold call's arguments as written, then in other orders."""
    yield gold.text
    if gold.form.arguments == "json":
        for pairs in islice(permutations(json.loads(gold.text).items()), 1, _ORDERS):
            yield json.dumps(dict(pairs), ensure_ascii=False)
    elif gold.form.arguments == "keywords":
        call: Any = ast.parse(f"f({gold.text})", mode="eval").body
        words = [f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords]
        yield from map(", ".join, islice(permutations(words), 1, _ORDERS))


def gold_calls(data: Path) -> Iterator[GoldCallText]:
    """Yield gold calls:

    FuncQA's by position, BFCL's by keyword and as JSON, RestBench's from examples.
    """
    tools = operations()
    for name in ("train", "one_hop"):
        for alias, text in gold_texts(
            json.loads((data / "funcqa" / f"{name}.json").read_text(encoding="utf-8"))
        ):
            yield GoldCallText(f"FuncQA {name}", tools[alias], FUNCTION, text)
    boxes = bfcl_tools(data)
    for task in json.loads((data / "bfcl" / "multi_turn_base.json").read_text(encoding="utf-8")):
        known = {
            t.protocol.name: t
            for name in task["involved_classes"]
            for t in boxes[CLASSES[name]].values()
        }
        for written in (call for turn in task["ground_truth"] for call in turn):
            yield from _bfcl(written, known)
    world = RestWorld(bench := load_restbench(data / "restbench"))
    for alias in (name for item in items(bench, world.toolbox, seed=0) for name in item.gold):
        tool = world.toolbox[alias]
        examples = {name: _example(schema) for name, schema in tool.protocol.parameters.items()}
        arguments = {
            a: examples[name] for a, name in tool.arguments.items() if examples[name] is not None
        }
        if arguments and tool.required <= arguments.keys():
            yield GoldCallText("RestBench", tool, JSON_CALL, json.dumps(arguments))
            yield GoldCallText(
                "RestBench",
                tool,
                PYTHON_CALL,
                write_as(tool, arguments, PYTHON_CALL)[len(alias) + 1 : -1],
            )


def _bfcl(written: str, known: Mapping[str, Tool]) -> Iterator[GoldCallText]:
    call: Any = ast.parse(written, mode="eval").body
    tool = known[call.func.id]
    names = {name: alias for alias, name in tool.arguments.items()}
    # What is given by position is given by the name of its place.
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
    """Return an example or default of a schema. Spotify's document writes numbers as strings."""
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


_TOOLS = 6
_STUBS = 400  # tools of a prompt, and tokens of their documentation
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING = 8
_ARRAY = 9
_PLAIN = 1  # the kind of a token that is text; the others are commands


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """Read the tokenizer of a GGUF file.

    Raises:
        Undecodable: it is not of GPT-2's kind.
    """
    with path.open("rb") as file:
        file.seek(16)  # behind the magic, the version and the number of tensors
        fields = {
            _value(file, _STRING): _value(file, _many(file, "I")[0])
            for _ in range(_many(file, "Q")[0])
        }
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise Undecodable(
            f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model."
        )
    tokens = fields["tokenizer.ggml.tokens"]
    kinds = fields["tokenizer.ggml.token_type"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    commands = [number for number, kind in enumerate(kinds) if kind != _PLAIN]
    bytes_ = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    written = {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": tokens[number], **flags} for number in commands],
        "pre_tokenizer": bytes_,
        "decoder": bytes_,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": fields["tokenizer.ggml.merges"]},
    }
    return LLTokenizer(json.dumps(written), eos_token=fields["tokenizer.ggml.eos_token_id"])


def _many(file: BinaryIO, code: str, count: int = 1) -> list[Any]:
    return list(struct.unpack(f"<{count}{code}", file.read(struct.calcsize(f"<{count}{code}"))))


def _value(file: BinaryIO, kind: int) -> Any:
    """Read a field's value; arrays become lists."""
    if kind == _STRING:
        return file.read(_many(file, "Q")[0]).decode()
    if kind == _ARRAY:
        (inner,), (count,) = _many(file, "I"), _many(file, "Q")
        return (
            [_value(file, inner) for _ in range(count)]
            if inner == _STRING
            else _many(file, _SCALARS[inner], count)
        )
    return _many(file, _SCALARS[kind])[0]


def speed(tokenizer: Any) -> dict[str, Any]:
    """Run the suite `speed`: microseconds for each mask along gold calls with literal arguments.

    All 155 tools are in one grammar.
    """
    tools = service_tools()
    root, build = measure_seconds(lambda: ToolMatcher(tools, tokenizer, JSON_CALL))
    texts = [tokenizer.tokenize_str(text) for text in call_texts(tools)]
    first, again = ([_along(root.fresh(), tokens) for tokens in texts] for _ in range(2))
    taken = sum(len(times) == len(tokens) for times, tokens in zip(first, texts, strict=True))
    about = {
        "vocabulary": tokenizer.vocab_size,
        "tools": len(tools),
        "calls": len(texts),
        "taken": taken,
    }
    return about | {
        "build_ms": round(build * 1000, 1),
        "first": _figures(first),
        "again": _figures(again),
    }


def call_texts(tools: Toolbox) -> list[str]:
    """Return the calls in ToolFlow's gold programs with literal arguments, as JSON."""
    texts: dict[str, None] = {}
    for node in (node for task in load_tasks() for node in ast.walk(ast.parse(task.program))):
        match node:
            case ast.Call(func=ast.Name(id=name), keywords=[_, *_]) if name in tools:
                if all(isinstance(word.value, ast.Constant) for word in node.keywords):
                    given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                    arguments = json.dumps(given, ensure_ascii=False)
                    texts[
                        f"{JSON_CALL.before}{name}{JSON_CALL.between}{arguments}{JSON_CALL.after}"
                    ] = None
    return list(texts)


def _along(matcher: ToolMatcher, tokens: Sequence[int]) -> list[float]:
    """Return the microseconds of the mask before each token, up to one that is rejected."""
    times = []
    for token in tokens:
        times.append(1e6 * measure_seconds(matcher.mask)[1])
        try:
            matcher.advance(token)
        except ValueError:
            return times[:-1]
    return times


def _figures(along: Sequence[Sequence[float]]) -> dict[str, float]:
    times = [time for one in along for time in one]
    return {
        "n": len(times),
        **{f"p{part}": round(float(np.percentile(times, part)), 2) for part in (50, 90, 99)},
    }


def overhead(name: str, *, calls: int) -> dict[str, Any]:
    """Run the suite `overhead`: the cost of constraining a local model while it writes a call.

    A constrained reply uses the grammar of all tools. It is compared with a free reply of as many
    tokens to the same prompt. They take turns in going first, after the prompt was read. Seconds
    are the caller's, *served* are the server's own, *cpu* those of both processes. An overhead is
    the median share of free tokens a second that is lost.
    """
    tasks = load_tasks(split="short")[:calls]
    everything = service_tools()
    needed = dict.fromkeys(one for task in tasks for one in (*task.operations, *task.candidates))
    tools = everything.only(
        [alias for alias, tool in everything.items() if tool.protocol.name in needed][:_TOOLS]
    )
    pairs = []
    tokens = 40
    with closing(LocalModel(name)) as model:
        for seed, task in enumerate(tasks):
            messages = call_prompt(task.question, tools, JSON_CALL, budget=_STUBS)
            model(messages, max_tokens=1)  # reads the prompt
            free = _cost(model, messages, seed, max_tokens=tokens) if seed % 2 else None
            held = _cost(model, messages, seed, max_tokens=200, held=tools)
            tokens = int(
                held["tokens"]
            )  # how long a free reply may be is known of the call before it
            pairs.append((free or _cost(model, messages, seed, max_tokens=tokens), held))
        found: dict[str, Any] = {"model": model.name, "pairs": len(pairs)}
    for clock in ("seconds", "served", "cpu"):
        rates = [
            tuple(cost["tokens"] / cost[clock] if cost[clock] else 0.0 for cost in pair)
            for pair in pairs
        ]
        found[f"free_tokens_per_second_{clock}"] = round(median(free for free, _ in rates), 1)
        found[f"held_tokens_per_second_{clock}"] = round(median(held for _, held in rates), 1)
        found[f"overhead_percent_{clock}"] = round(
            100 * median(1 - held / free for free, held in rates if free), 1
        )
    return found


def _cost(
    model: LocalModel, messages: Sequence[Message], seed: int, *, max_tokens: int, held: Any = None
) -> dict[str, float]:
    """Ask for a reply and return its tokens, and the seconds of caller, server and CPUs.

    The time to build the grammar is included.
    """
    processes = process_family(os.getpid())
    cpu = cpu_seconds(processes)
    began = time.perf_counter()
    grammar = call_grammar(held, JSON_CALL).text if held else None
    reply = model(messages, temperature=0.7, seed=seed, grammar=grammar, max_tokens=max_tokens)
    seconds = time.perf_counter() - began
    served = model.timings.get("predicted_ms", 0.0) / 1000
    return {
        "tokens": reply.output_tokens,
        "seconds": seconds,
        "served": served,
        "cpu": cpu_seconds(processes) - cpu,
    }
