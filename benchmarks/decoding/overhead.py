"""The suite `overhead`: what it costs to hold a model to a call while it writes, beside free replies.

Tasks and tools are ToolFlow's. A call is one reply under the grammar of calls of all tools; beside it a free reply to
the same prompt, cut at as many tokens. Each pair follows a request that has the prompt read, and takes turns in who
goes first. Seconds are the caller's; *served* are the server's own for the tokens that it wrote; *cpu* those of both
processes, which a busy machine does not stretch. Each overhead is the median over the pairs of the share of free tokens
a second that is lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from atc.decode.formats import JSON_CALL
from atc.decode.grammar import call_grammar
from atc.decode.prompt import call_prompt
from atc.models.local import LocalModel
from protocols.ask import Message
from toolflow_bench.services.service import service_tools
from toolflow_bench.task import load_tasks

_TOOLS = 6
_STUBS = 400
"""Tokens of documentation in a prompt."""
_CLOCKS = ("seconds", "served", "cpu")


def measure(name: str, *, calls: int) -> dict[str, Any]:
    """The figures of a local model. The same tools stand in all prompts: so they are read once."""
    tasks, everything = load_tasks(split="short")[:calls], service_tools()
    needed = dict.fromkeys(one for task in tasks for one in (*task.operations, *task.candidates))
    tools = everything.only([alias for alias, tool in everything.items() if tool.protocol.name in needed][:_TOOLS])
    pairs, tokens = [], 40
    with closing(LocalModel(name)) as model:
        for seed, task in enumerate(tasks):
            messages = call_prompt(task.question, tools, JSON_CALL, budget=_STUBS)
            model(messages, max_tokens=1)  # reads the prompt
            free = _cost(model, messages, seed, max_tokens=tokens) if seed % 2 else None
            held = _cost(model, messages, seed, max_tokens=200, grammar=lambda: call_grammar(tools, JSON_CALL).text)
            tokens = int(held["tokens"])  # how long a free reply may be is known of the call before it
            pairs.append((free or _cost(model, messages, seed, max_tokens=tokens), held))
        found: dict[str, Any] = {"model": model.name, "pairs": len(pairs)}
    for clock in _CLOCKS:
        rates = [tuple(cost["tokens"] / cost[clock] if cost[clock] else 0.0 for cost in pair) for pair in pairs]
        found[f"free_tokens_per_second_{clock}"] = round(median(free for free, _ in rates), 1)
        found[f"held_tokens_per_second_{clock}"] = round(median(held for _, held in rates), 1)
        found[f"overhead_percent_{clock}"] = round(100 * median(1 - held / free for free, held in rates if free), 1)
    return found


def _cost(
    model: LocalModel, messages: Sequence[Message], seed: int, *, grammar: Any = None, **options: Any
) -> dict[str, float]:
    """What a reply took: tokens, the caller's seconds, the server's, and those of CPUs."""
    cpu, began = _cpu_seconds(), time.perf_counter()
    reply = model(messages, temperature=0.7, seed=seed, grammar=grammar and grammar(), **options)
    seconds, served = time.perf_counter() - began, model.timings.get("predicted_ms", 0.0) / 1000
    return {"tokens": reply.output_tokens, "seconds": seconds, "served": served, "cpu": _cpu_seconds() - cpu}


def _cpu_seconds() -> float:
    """Of this process and of its children that still run: llama.cpp is one. Linux alone tells."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    ticks = (Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13] for child in children)
    return time.process_time() + sum(int(tick) for pair in ticks for tick in pair) / os.sysconf("SC_CLK_TCK")
