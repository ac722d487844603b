"""How long a mask takes, and what it costs to build what gives it, beside one grammar of all names and ToolDec's way.

    python benchmarks/decoding_speed.py [--vocabulary FILE.gguf] [--names 16000] [--many 1000000] [--json]

The vocabulary is the small local model's (49,152 tokens). Masks are taken along calls and programs that are really
written: calls that gold programs of ToolFlow make, gold programs of its short tasks as far as their lines are in
the subset, and programs drawn with random logits. Wall time, and CPU time of the thread, which a busy machine does not
stretch. Each build has a process of its own, so that its memory is its own. "ToolDec's way" is our few lines of what
its published code does: at each step every token of the vocabulary is put behind what is written, and the text looked
up among the names' beginnings.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from atc.decode.arguments import arguments_grammar, names_grammar  # noqa: E402
from atc.decode.automaton import ToolAutomaton  # noqa: E402
from atc.decode.errors import Undecodable  # noqa: E402
from atc.decode.formats import FUNCTION, JSON_CALL, TOOLDEC  # noqa: E402
from atc.decode.grammar import Grammar  # noqa: E402
from atc.decode.lark import lark  # noqa: E402
from atc.decode.matcher import Matcher  # noqa: E402
from atc.decode.program import Statements  # noqa: E402
from atc.decode.trie import NameTrie  # noqa: E402
from atc.decode.vocabulary import Vocabulary  # noqa: E402
from atc.models.fetch import weights  # noqa: E402
from protocols.jsontypes import Json, JsonObject  # noqa: E402
from protocols.protocol import ToolProtocol  # noqa: E402
from protocols.toolbox import Tool, Toolbox  # noqa: E402
from toolflow_bench.decoding.random.samplers import Crowd, unpack  # noqa: E402
from toolflow_bench.retrieval.data_toolflow import service_tools  # noqa: E402
from toolflow_bench.task import load_tasks  # noqa: E402

PROGRAMS, DRAWN, REPEATS = 40, 6, 5
"""Gold programs whose masks are timed, programs drawn at random, and repetitions of what is built."""


class Stopwatch:
    """Wall and CPU times of one thing done many times, in microseconds."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, work: Callable[..., Any], *given: Any) -> Any:
        """What `work` gives."""
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        result = work(*given)
        self.wall.append((time.perf_counter_ns() - wall) / 1000)
        self.cpu.append((time.thread_time_ns() - cpu) / 1000)
        return result

    def told(self) -> dict[str, float]:
        """Percentiles."""
        figures: dict[str, float] = {"n": len(self.wall)}
        for name, values in (("", self.wall), ("cpu_", self.cpu)):
            for part in (50, 90, 99):
                figures[f"{name}p{part}_us"] = round(float(np.percentile(values, part)), 2) if values else 0.0
        return figures


def made_up_names(count: int) -> list[str]:
    """Names of tools: words of real ones, crossed."""
    words = sorted({word for alias in service_tools() for word in alias.split("_")})
    rng = random.Random(0)
    names: dict[str, None] = {}
    while len(names) < count:
        name = "_".join(rng.choices(words, k=rng.randrange(2, 5)))
        names[name if name not in names else f"{name}_{len(names)}"] = None
    return list(names)


def _nothing(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of a call
    return None


def catalogue(names: Sequence[str]) -> Toolbox:
    """Tools of these names, each with the arguments of a real one."""
    schemas = [tool.protocol.input_schema for tool in service_tools().values()]
    return Toolbox(
        Tool(protocol=ToolProtocol(name=name, input_schema=schemas[place % len(schemas)]), call=_nothing)
        for place, name in enumerate(names)
    )


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


def along(automaton: ToolAutomaton, tokens: Sequence[int], watch: Stopwatch) -> bool:
    """Time the mask before each token; False where a token is refused."""
    for token in tokens:
        watch.time(automaton.allowed)
        try:
            automaton.advance(token)
        except ValueError:
            return False
    return True


def masks_of_calls(vocabulary: Vocabulary, tools: Toolbox) -> dict[str, Any]:
    """Masks along calls as JSON, the first time in a process and later, and along text around calls."""
    root = ToolAutomaton(tools, vocabulary, JSON_CALL)
    root.check()
    texts = call_texts(tools)
    first, again = Stopwatch(), Stopwatch()
    taken = [along(root.fresh(), vocabulary.encode(text), first) for text in texts]
    for text in texts:
        along(root.fresh(), vocabulary.encode(text), again)
    amid, prose = ToolAutomaton(tools, vocabulary, TOOLDEC), Stopwatch()
    said = vocabulary.encode(
        "The answer needs the average of both values, which is 3 < 4, so <b>we</b> call a tool. " * 40
    )
    along(amid.fresh(), said, prose)
    return {
        "tools": len(tools),
        "calls": len(texts),
        "taken": sum(taken),
        "first": first.told(),
        "again": again.told(),
        "text mode": prose.told(),
    }


def masks_of_programs(vocabulary: Vocabulary, tools: Toolbox) -> dict[str, Any]:
    """A statement's grammar generated and compiled, and masks along gold lines and along random ones."""
    generate, build, gold, drawn = Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch()
    lines = outside = 0
    for task in load_tasks(split="short")[:PROGRAMS]:
        statements = Statements(tools.only(sorted(set(task.operations))))
        source = ""
        for line in task.program.splitlines(keepends=True):
            if not line.strip():
                continue
            try:
                step = generate.time(statements.next, source)
            except Undecodable:
                break
            matcher = build.time(compiled, vocabulary, step.grammar)
            lines += 1
            outside += not _follow(matcher, vocabulary.encode(line), gold)
            source += line
    crowd = Crowd(vocabulary.tokens, vocabulary.eos)
    for number in range(DRAWN):
        _draw_program(Statements(tools.only(list(tools)[number::7][:5])), crowd, vocabulary, number, drawn)
    return {
        "generate": generate.told(),
        "compile": build.told(),
        "gold lines": lines,
        "of them outside the subset": outside,
        "masks along gold lines": gold.told(),
        "masks along random programs": drawn.told(),
    }


def _follow(matcher: Matcher, tokens: Sequence[int], watch: Stopwatch) -> bool:
    for token in tokens:
        watch.time(matcher.mask)
        if not matcher.advance(token):
            return False
    return True


def _draw_program(statements: Statements, crowd: Crowd, vocabulary: Vocabulary, seed: int, watch: Stopwatch) -> None:
    sampler, source = crowd.make("T=1.0", seed), ""
    while not (step := statements.next(source)).must_end:
        matcher, text = Matcher(vocabulary, lark(step.grammar)), b""
        while len(allowed := unpack(watch.time(matcher.mask), vocabulary.size)):
            token = sampler(allowed)
            if token in vocabulary.eos:
                break
            matcher.advance(token)
            text += vocabulary.tokens[token]
        if not text.endswith(b"\n"):
            return
        source += text.decode()


def compiled(vocabulary: Vocabulary, grammar: Grammar) -> Matcher:
    return Matcher(vocabulary, lark(grammar))


def _from_schema(vocabulary: Vocabulary, tool: Tool) -> Matcher:
    return compiled(vocabulary, arguments_grammar(tool, "json"))


def arguments_of_one(vocabulary: Vocabulary, tools: Toolbox) -> dict[str, Any]:
    """From a tool's schema to a matcher of its arguments, for each tool, nothing remembered."""
    made = Stopwatch()
    for number in range(REPEATS):
        for tool in tools.values():
            other = replace(tool, alias=f"{tool.alias}_{number}")  # grammars are remembered by the tool
            made.time(_from_schema, vocabulary, other)
    return made.told()


def build(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """An automaton over so many tools, in this process; its memory; masks of names along some of them."""
    tools = catalogue(made_up_names(count))
    _ = vocabulary.lltokenizer  # shared by all automata of a vocabulary
    before, times = resident(), []
    for _ in range(REPEATS):
        begun = time.process_time()
        automaton = ToolAutomaton(tools, vocabulary, FUNCTION)
        times.append(1000 * (time.process_time() - begun))
    after = resident()
    cold, warm = Stopwatch(), Stopwatch()
    chosen = [vocabulary.encode(alias + "(") for alias in islice(tools, 0, None, max(1, len(tools) // 200))]
    for tokens in chosen:
        along(automaton.fresh(), tokens, cold)
    for tokens in chosen:
        along(automaton.fresh(), tokens, warm)
    return {
        "names": len(tools),
        "build_cpu_ms": round(median(times), 1),
        "resident_mb": round(after - before, 1),
        "masks of names": cold.told(),
        "masks of names again": warm.told(),
    }


def build_names(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """What an automaton keeps of the names alone, of more tools than this machine should make."""
    names = made_up_names(count)
    before, begun = resident(), time.process_time()
    trie = NameTrie(names, vocabulary, between="(")
    took = 1000 * (time.process_time() - begun)
    return {"names": len(trie.keys), "build_cpu_ms": round(took, 1), "resident_mb": round(resident() - before, 1)}


def one_grammar(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """One llguidance grammar of all names."""
    names = made_up_names(count)
    _ = vocabulary.lltokenizer
    before = resident()
    begun = time.process_time()
    matcher = Matcher(vocabulary, lark(names_grammar(names)))
    took = 1000 * (time.process_time() - begun)
    after, watch = resident(), Stopwatch()
    for name in names[:: max(1, len(names) // 200)]:
        _follow(matcher.copy(), vocabulary.encode(name), watch)
    return {
        "names": count,
        "build_cpu_ms": round(took, 1),
        "resident_mb": round(after - before, 1),
        "masks of names": watch.told(),
    }


def tooldec_way(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """Every token put behind what is written, at each step."""
    names = made_up_names(count)
    begun = time.process_time()
    beginnings = {name[:end] for name in names for end in range(len(name) + 1)}
    build_ms = 1000 * (time.process_time() - begun)
    watch = Stopwatch()

    def mask(written: bytes) -> list[bool]:
        return [(written + token).decode(errors="replace") in beginnings for token in vocabulary.tokens]

    for name in names[:REPEATS]:
        written = b""
        for token in vocabulary.encode(name):
            assert watch.time(mask, written)[token]
            written += vocabulary.tokens[token]
    return {"names": count, "build_cpu_ms": round(build_ms, 1), "masks of names": watch.told()}


def resident() -> float:
    """Megabytes of memory that are not pages of files."""
    said = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(said["RssAnon"].split()[0]) / 1024


STAGES: dict[str, Callable[[Vocabulary, argparse.Namespace], dict[str, Any]]] = {
    "calls": lambda vocabulary, _: masks_of_calls(vocabulary, service_tools()),
    "programs": lambda vocabulary, _: masks_of_programs(vocabulary, service_tools()),
    "arguments of one tool": lambda vocabulary, _: arguments_of_one(vocabulary, service_tools()),
    "build": lambda vocabulary, args: build(vocabulary, args.names),
    "build, many": lambda vocabulary, args: build_names(vocabulary, args.many),
    "one grammar of all names": lambda vocabulary, args: one_grammar(vocabulary, args.names),
    "ToolDec's way": lambda vocabulary, args: tooldec_way(vocabulary, args.names),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--names", type=int, default=16_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stage", choices=STAGES, action="append", help="This part alone; repeatable.")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        vocabulary = Vocabulary.from_gguf(args.vocabulary or weights("smollm2"))
        print(json.dumps(STAGES[args.stage[0]](vocabulary, args)))
        return
    figures: dict[str, Any] = {}
    options = ["--names", str(args.names), "--many", str(args.many)]
    options += ["--vocabulary", str(args.vocabulary)] if args.vocabulary else []
    for stage in args.stage or STAGES:
        begun = time.monotonic()
        command = [sys.executable, __file__, *options, "--stage", stage, "--here"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        failed = {"failed": ran.stderr.strip().splitlines()[-1:]}
        figures[stage] = failed if ran.returncode else json.loads(ran.stdout)
        figures[stage]["stage_seconds"] = round(time.monotonic() - begun, 1)
        if not args.json:
            print(
                f"{stage}\n" + "\n".join(f"  {name:32} {value}" for name, value in figures[stage].items()), flush=True
            )
    if args.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
