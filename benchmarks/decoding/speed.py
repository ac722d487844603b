"""The suite `speed`: how long a mask of a tool call takes, and what it costs to build what gives it.

Masks are taken along the calls that ToolFlow's gold programs make with literals, over all its 155 tools in one grammar,
the first time and again. Wall time, in microseconds.
"""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from atc.decode.formats import JSON_CALL
from atc.decode.matcher import ToolMatcher
from benchmarks.toolflow_tools import service_tools
from protocols.toolbox import Toolbox
from toolflow_bench.task import load_tasks


def measure(tokenizer: Any) -> dict[str, Any]:
    """All figures, with the vocabulary of `tokenizer`."""
    tools = service_tools()
    root, build = _timed(lambda: ToolMatcher(tools, tokenizer, JSON_CALL))
    texts = [tokenizer.tokenize_str(text) for text in call_texts(tools)]
    first, again = ([_along(root.fresh(), tokens) for tokens in texts] for _ in range(2))
    return {
        "vocabulary": tokenizer.vocab_size,
        "tools": len(tools),
        "calls": len(texts),
        "taken": sum(len(times) == len(tokens) for times, tokens in zip(first, texts, strict=True)),
        "build_ms": round(build / 1000, 1),
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
    """The time of the mask before each token, up to one that is refused."""
    times = []
    for token in tokens:
        times.append(_timed(matcher.mask)[1])
        try:
            matcher.advance(token)
        except ValueError:
            return times[:-1]
    return times


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter_ns()
    return work(), (time.perf_counter_ns() - begun) / 1000


def _figures(along: Sequence[Sequence[float]]) -> dict[str, float]:
    times = [time for one in along for time in one]
    return {"n": len(times), **{f"p{part}": round(float(np.percentile(times, part)), 2) for part in (50, 90, 99)}}
