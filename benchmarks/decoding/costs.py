"""What holding a model to its calls costs: the time of masks, and tokens a second. Tasks and tools are ToolFlow's."""

from __future__ import annotations

import ast
import json
import os
import struct
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

import numpy as np
from llguidance import LLTokenizer

from atc.decode.errors import Undecodable
from atc.decode.formats import JSON_CALL
from atc.decode.grammar import call_grammar
from atc.decode.matcher import ToolMatcher
from atc.decode.prompt import call_prompt
from atc.models.local import LocalModel
from benchmarks.catalogues import service_tools
from benchmarks.local import cpu_seconds, family
from benchmarks.runner import timed
from protocols.ask import Message
from protocols.toolbox import Toolbox
from toolflow_bench.task import load_tasks

_TOOLS, _STUBS = 6, 400  # tools of a prompt, and tokens of their documentation
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_PLAIN = 1  # the kind of a token that is text; the others are commands


def gguf_tokenizer(path: Path) -> LLTokenizer:
    """The tokenizer of a llama.cpp model of GPT-2's kind, from the metadata at the file's beginning. Raises
    Undecodable: it is of another kind.
    """
    with path.open("rb") as file:
        file.seek(16)  # behind the magic, the version and the number of tensors
        fields = {_value(file, _STRING): _value(file, _many(file, "I")[0]) for _ in range(_many(file, "Q")[0])}
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise Undecodable(f"the tokenizer of {str(path)!r} is not of GPT-2's kind; name another model.")
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    commands = [number for number, kind in enumerate(kinds) if kind != _PLAIN]
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
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
    """A field's value; arrays are lists."""
    if kind == _STRING:
        return file.read(_many(file, "Q")[0]).decode()
    if kind == _ARRAY:
        (inner,), (count,) = _many(file, "I"), _many(file, "Q")
        return [_value(file, inner) for _ in range(count)] if inner == _STRING else _many(file, _SCALARS[inner], count)
    return _many(file, _SCALARS[kind])[0]


def speed(tokenizer: Any) -> dict[str, Any]:
    """The suite `speed`: masks along the calls that ToolFlow's gold programs make with literals, in microseconds.

    All its 155 tools stand in one grammar, over the vocabulary of `tokenizer`.
    """
    tools = service_tools()
    root, build = timed(lambda: ToolMatcher(tools, tokenizer, JSON_CALL))
    texts = [tokenizer.tokenize_str(text) for text in call_texts(tools)]
    first, again = ([_along(root.fresh(), tokens) for tokens in texts] for _ in range(2))
    return {
        "vocabulary": tokenizer.vocab_size,
        "tools": len(tools),
        "calls": len(texts),
        "taken": sum(len(times) == len(tokens) for times, tokens in zip(first, texts, strict=True)),
        "build_ms": round(build * 1000, 1),
        "first": _figures(first),
        "again": _figures(again),
    }


def call_texts(tools: Toolbox) -> list[str]:
    """The calls of ToolFlow's gold programs whose arguments are literals, as JSON."""
    texts: dict[str, None] = {}
    for node in (node for task in load_tasks() for node in ast.walk(ast.parse(task.program))):
        match node:
            case ast.Call(func=ast.Name(id=name), keywords=[_, *_]) if name in tools:
                if all(isinstance(word.value, ast.Constant) for word in node.keywords):
                    given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                    arguments = json.dumps(given, ensure_ascii=False)
                    texts[f"{JSON_CALL.before}{name}{JSON_CALL.between}{arguments}{JSON_CALL.after}"] = None
    return list(texts)


def _along(matcher: ToolMatcher, tokens: Sequence[int]) -> list[float]:
    """Microseconds of the mask before each token, up to one that is refused."""
    times = []
    for token in tokens:
        times.append(1e6 * timed(matcher.mask)[1])
        try:
            matcher.advance(token)
        except ValueError:
            return times[:-1]
    return times


def _figures(along: Sequence[Sequence[float]]) -> dict[str, float]:
    times = [time for one in along for time in one]
    return {"n": len(times), **{f"p{part}": round(float(np.percentile(times, part)), 2) for part in (50, 90, 99)}}


def overhead(name: str, *, calls: int) -> dict[str, Any]:
    """The suite `overhead`: what it costs a local model to hold it to a call while it writes, beside free replies.

    A call is one reply under the grammar of calls of all tools; beside it a free reply to the same prompt, cut at as
    many tokens. Each pair follows a request that has the prompt read (the same tools stand in all: they are read once),
    and takes turns in who goes first. Seconds are the caller's; *served* are the server's own for the tokens that it
    wrote; *cpu* those of both processes, which a busy machine does not stretch. Each overhead is the median over the
    pairs of the share of free tokens a second that is lost.
    """
    tasks, everything = load_tasks(split="short")[:calls], service_tools()
    needed = dict.fromkeys(one for task in tasks for one in (*task.operations, *task.candidates))
    tools = everything.only([alias for alias, tool in everything.items() if tool.protocol.name in needed][:_TOOLS])
    pairs, tokens = [], 40
    with closing(LocalModel(name)) as model:
        for seed, task in enumerate(tasks):
            messages = call_prompt(task.question, tools, JSON_CALL, budget=_STUBS)
            model(messages, max_tokens=1)  # reads the prompt
            free = _cost(model, messages, seed, max_tokens=tokens) if seed % 2 else None
            held = _cost(model, messages, seed, max_tokens=200, held=tools)
            tokens = int(held["tokens"])  # how long a free reply may be is known of the call before it
            pairs.append((free or _cost(model, messages, seed, max_tokens=tokens), held))
        found: dict[str, Any] = {"model": model.name, "pairs": len(pairs)}
    for clock in ("seconds", "served", "cpu"):
        rates = [tuple(cost["tokens"] / cost[clock] if cost[clock] else 0.0 for cost in pair) for pair in pairs]
        found[f"free_tokens_per_second_{clock}"] = round(median(free for free, _ in rates), 1)
        found[f"held_tokens_per_second_{clock}"] = round(median(held for _, held in rates), 1)
        found[f"overhead_percent_{clock}"] = round(100 * median(1 - held / free for free, held in rates if free), 1)
    return found


def _cost(
    model: LocalModel, messages: Sequence[Message], seed: int, *, max_tokens: int, held: Any = None
) -> dict[str, float]:
    """What a reply took: tokens, the caller's seconds, the server's, and those of CPUs. The grammar is part of it."""
    processes = family(os.getpid())
    cpu, began = cpu_seconds(processes), time.perf_counter()
    grammar = call_grammar(held, JSON_CALL).text if held else None
    reply = model(messages, temperature=0.7, seed=seed, grammar=grammar, max_tokens=max_tokens)
    seconds, served = time.perf_counter() - began, model.timings.get("predicted_ms", 0.0) / 1000
    return {"tokens": reply.output_tokens, "seconds": seconds, "served": served, "cpu": cpu_seconds(processes) - cpu}
