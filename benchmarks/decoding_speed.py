"""How long a mask of a tool call takes, and what it costs to build what gives it.

    python benchmarks/decoding_speed.py [--vocabulary FILE.gguf] [--names 16000] [--json]

The vocabulary is the small local model's (49,152 tokens). Masks are taken along the calls that ToolFlow's gold programs
make with literals, over all its 155 tools in one grammar, the first time and again; along the names of many tools, in
two stages. Wall time, in microseconds.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from atc.decode.formats import FUNCTION, JSON_CALL, TOOLDEC  # noqa: E402
from atc.decode.grammar import arguments_grammar, compiled  # noqa: E402
from atc.decode.matcher import ToolMatcher  # noqa: E402
from atc.models.fetch import weights  # noqa: E402
from protocols.protocol import ToolProtocol  # noqa: E402
from protocols.toolbox import Tool, Toolbox  # noqa: E402
from toolflow_bench.decoding.tokenizer import gguf_tokenizer  # noqa: E402
from toolflow_bench.retrieval.data_toolflow import service_tools  # noqa: E402
from toolflow_bench.task import load_tasks  # noqa: E402

PROSE = "The answer needs the average of both values, which is 3 < 4, so <b>we</b> call a tool. " * 40


class Stopwatch:
    """Wall times of one thing done many times."""

    def __init__(self) -> None:
        self.microseconds: list[float] = []

    def time(self, work: Callable[..., Any], *given: Any) -> Any:
        """What `work` gives."""
        begun = time.perf_counter_ns()
        result = work(*given)
        self.microseconds.append((time.perf_counter_ns() - begun) / 1000)
        return result

    def figures(self) -> dict[str, float]:
        """Percentiles."""
        points = {f"p{part}": round(float(np.percentile(self.microseconds, part)), 2) for part in (50, 90, 99)}
        return {"n": len(self.microseconds), **points}


def call_texts(tools: Toolbox) -> list[str]:
    """The calls of ToolFlow's gold programs whose arguments are literals, as JSON."""
    texts: dict[str, None] = {}
    for task in load_tasks():
        for node in ast.walk(ast.parse(task.program)):
            match node:
                case ast.Call(func=ast.Name(id=name), keywords=[_, *_]) if name in tools:
                    if all(isinstance(word.value, ast.Constant) for word in node.keywords):
                        given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
                        arguments = json.dumps(given, ensure_ascii=False)
                        texts[f"{JSON_CALL.before}{name}{JSON_CALL.between}{arguments}{JSON_CALL.after}"] = None
    return list(texts)


def along(matcher: ToolMatcher, tokens: Sequence[int], watch: Stopwatch) -> bool:
    """Time the mask before each token; False where a token is refused."""
    for token in tokens:
        watch.time(matcher.mask)
        try:
            matcher.advance(token)
        except ValueError:
            return False
    return True


def calls(tokenizer: Any) -> dict[str, Any]:
    """Masks along calls over 155 tools in one grammar, and along text around calls."""
    tools = service_tools()
    begun = time.perf_counter()
    root = ToolMatcher(tools, tokenizer, JSON_CALL)
    build = time.perf_counter() - begun
    first, again, prose = Stopwatch(), Stopwatch(), Stopwatch()
    texts = [tokenizer.tokenize_str(text) for text in call_texts(tools)]
    taken = [along(root.fresh(), tokens, first) for tokens in texts]
    for tokens in texts:
        along(root.fresh(), tokens, again)
    along(ToolMatcher(tools, tokenizer, TOOLDEC), tokenizer.tokenize_str(PROSE), prose)
    counts = {"tools": len(tools), "calls": len(texts), "taken": sum(taken), "build_ms": round(1000 * build, 1)}
    return {**counts, "first": first.figures(), "again": again.figures(), "text": prose.figures()}


def one_tool(tokenizer: Any) -> dict[str, Any]:
    """From a tool's schema to a matcher of its arguments."""
    watch = Stopwatch()
    for tool in service_tools().values():
        watch.time(lambda tool=tool: compiled(tokenizer, arguments_grammar(tool, JSON_CALL).text))
    return watch.figures()


def names(tokenizer: Any, count: int) -> dict[str, Any]:
    """Two stages over many tools: the build, and masks along some names."""
    words = sorted({word for alias in service_tools() for word in alias.split("_")})
    rng = random.Random(0)
    made = list(dict.fromkeys("_".join(rng.choices(words, k=rng.randrange(2, 5))) for _ in range(2 * count)))[:count]
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    tools = Toolbox(Tool(ToolProtocol(name=name, input_schema=schema), call=dict) for name in made)
    begun = time.perf_counter()
    root = ToolMatcher(tools, tokenizer, FUNCTION)
    build, watch = time.perf_counter() - begun, Stopwatch()
    for name in made[:: max(1, len(made) // 200)]:
        along(root.fresh(), tokenizer.tokenize_str(name), watch)
    return {"names": len(tools), "build_ms": round(1000 * build, 1), "masks": watch.figures()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--names", type=int, default=16_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    tokenizer = gguf_tokenizer(args.vocabulary or weights("smollm2"))
    figures = {
        "vocabulary": tokenizer.vocab_size,
        "calls": calls(tokenizer),
        "arguments of one tool": one_tool(tokenizer),
        "names": names(tokenizer, args.names),
    }
    print(json.dumps(figures, indent=2) if args.json else "\n".join(f"{k}: {v}" for k, v in figures.items()))


if __name__ == "__main__":
    main()
