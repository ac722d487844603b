"""The suites `speed` and `overhead`: how much time token masks and grammars cost."""

from __future__ import annotations

import ast
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from statistics import median
from typing import Any

import numpy as np

from atc.models.decode.formats import JSON_CALL
from atc.models.decode.grammar import call_grammar
from atc.models.decode.matcher import ToolMatcher
from atc.models.decode.prompt import call_prompt
from atc.models.local import LocalModel
from benchmarks.catalogues import service_tools
from benchmarks.local import cpu_seconds, process_family
from benchmarks.runner import measure_seconds
from protocols.model import Message
from protocols.toolbox import Toolbox
from toolflow_bench.task import Task, load_tasks

_TOOLS = 6
"""Number of tools in a prompt."""
_STUBS = 400
"""Number of tokens that the tools' documentation may take in a prompt."""


def speed(tokenizer: Any) -> dict[str, Any]:
    """Run the suite `speed` and return the microseconds that each mask took.

    The masks are computed while gold calls with literal arguments are matched, token by token. One
    grammar has all 155 tools.
    """
    tools = service_tools()
    root, build = measure_seconds(lambda: ToolMatcher(tools, tokenizer, JSON_CALL))
    texts = [tokenizer.tokenize_str(text) for text in call_texts(tools)]
    first = [_mask_times(root.fresh(), tokens) for tokens in texts]
    again = [_mask_times(root.fresh(), tokens) for tokens in texts]
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
    """Return, as JSON, the calls in ToolFlow's gold programs whose arguments are all literals."""
    texts: dict[str, None] = {}
    for node in (node for task in load_tasks() for node in ast.walk(ast.parse(task.program))):
        match node:
            case ast.Call(func=ast.Name(id=name), keywords=[_, *_]) if name in tools:
                if all(isinstance(word.value, ast.Constant) for word in node.keywords):
                    given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                    arguments = json.dumps(given, ensure_ascii=False)
                    start = f"{JSON_CALL.before}{name}{JSON_CALL.between}"
                    texts[f"{start}{arguments}{JSON_CALL.after}"] = None
    return list(texts)


def _mask_times(matcher: ToolMatcher, tokens: Sequence[int]) -> list[float]:
    """Return how many microseconds it takes to compute the token mask before each token of a text.

    Stop at the first token that the grammar rejects.
    """
    times = []
    for token in tokens:
        times.append(1e6 * measure_seconds(matcher.mask)[1])
        try:
            matcher.advance(token)
        except ValueError:
            return times[:-1]
    return times


def _figures(runs: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the number and the percentiles of the times of all calls together."""
    times = [time for one in runs for time in one]
    return {
        "n": len(times),
        **{f"p{part}": round(float(np.percentile(times, part)), 2) for part in (50, 90, 99)},
    }


def overhead(name: str, *, calls: int) -> dict[str, Any]:
    """Run the suite `overhead`: the cost of constraining a local model while it writes a call.

    A constrained reply uses the grammar of all tools. It is compared with a free reply of the same
    length, in tokens, to the same prompt. The two take turns in going first. The prompt is read
    before the clocks start. `seconds` is the caller's time, `served` the server's own time, `cpu`
    the CPU time of both processes. The overhead is the median loss in tokens per second, in percent
    of the free rate.
    """
    tasks = load_tasks(split="short")[:calls]
    tools = _tools_of(tasks)
    pairs = []
    tokens = 40
    with closing(LocalModel(name)) as model:
        for seed, task in enumerate(tasks):
            free, constrained = _cost_pair(model, task.question, tools, seed, tokens)
            # The length of the next free reply must be known before its constrained one exists.
            tokens = int(constrained["tokens"])
            pairs.append((free, constrained))
        found: dict[str, Any] = {"model": model.name, "pairs": len(pairs)}
    for clock in ("seconds", "served", "cpu"):
        rates = [(_rate(free, clock), _rate(constrained, clock)) for free, constrained in pairs]
        losses = [1 - constrained / free for free, constrained in rates if free]
        found[f"free_tokens_per_second_{clock}"] = round(median(free for free, _ in rates), 1)
        found[f"held_tokens_per_second_{clock}"] = round(
            median(constrained for _, constrained in rates), 1
        )
        found[f"overhead_percent_{clock}"] = round(100 * median(losses), 1)
    return found


def _tools_of(tasks: Sequence[Task]) -> Toolbox:
    """Return the first few tools that the tasks need or that a model may confuse with them."""
    everything = service_tools()
    needed = {one for task in tasks for one in (*task.operations, *task.candidates)}
    names = [alias for alias, tool in everything.items() if tool.protocol.name in needed]
    return everything.only(names[:_TOOLS])


def _cost_pair(
    model: LocalModel, question: str, tools: Toolbox, seed: int, tokens: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the costs of a free and of a constrained reply to one question.

    If the seed is odd, the free reply comes first and has at most `tokens` tokens.
    """
    messages = call_prompt(question, tools, JSON_CALL, budget=_STUBS)
    model(messages, max_tokens=1)  # reads the prompt
    free = _cost(model, messages, seed, max_tokens=tokens) if seed % 2 else None
    constrained = _cost(model, messages, seed, max_tokens=200, tools=tools)
    if free is None:
        free = _cost(model, messages, seed, max_tokens=int(constrained["tokens"]))
    return free, constrained


def _rate(cost: Mapping[str, float], clock: str) -> float:
    """Return the tokens per second as measured with one clock, or 0 if it measured no time."""
    return cost["tokens"] / cost[clock] if cost[clock] else 0.0


def _cost(
    model: LocalModel,
    messages: Sequence[Message],
    seed: int,
    *,
    max_tokens: int,
    tools: Toolbox | None = None,
) -> dict[str, float]:
    """Ask for a reply; return its number of tokens and the seconds of the caller, server and CPUs.

    The time to build the grammar is included.
    """
    processes = process_family(os.getpid())
    cpu = cpu_seconds(processes)
    began = time.perf_counter()
    grammar = call_grammar(tools, JSON_CALL).text if tools else None
    reply = model(messages, temperature=0.7, seed=seed, grammar=grammar, max_tokens=max_tokens)
    seconds = time.perf_counter() - began
    served = model.timings.get("predicted_ms", 0.0) / 1000
    return {
        "tokens": reply.output_tokens,
        "seconds": seconds,
        "served": served,
        "cpu": cpu_seconds(processes) - cpu,
    }
