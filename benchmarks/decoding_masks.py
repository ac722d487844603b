"""Times of masks along calls and programs that are really written, and of what gives them: `decoding_speed.py` asks."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from atc.decode.arguments import arguments_grammar
from atc.decode.automaton import ToolAutomaton
from atc.decode.errors import Undecodable
from atc.decode.formats import JSON_CALL, TOOLDEC
from atc.decode.grammar import Grammar, Text
from atc.decode.lark import lark
from atc.decode.matcher import Matcher
from atc.decode.program import Statements
from atc.decode.vocabulary import Vocabulary
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.random.samplers import Crowd, unpack
from toolflow_bench.task import load_tasks

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
            outside += not follow(matcher, vocabulary.encode(line), gold)
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


def follow(matcher: Matcher, tokens: Sequence[int], watch: Stopwatch) -> bool:
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
    """What gives masks, from a grammar as a value."""
    return Matcher(vocabulary, lark(grammar))


def _from_schema(vocabulary: Vocabulary, tool: Tool) -> Matcher:
    return compiled(vocabulary, arguments_grammar(tool, "json"))


def arguments_of_one(vocabulary: Vocabulary, tools: Toolbox) -> dict[str, Any]:
    """From a tool's schema to a matcher of its arguments, for each tool; and what the shortest grammar takes."""
    first, again, least = Stopwatch(), Stopwatch(), Stopwatch()
    compiled(vocabulary, Grammar(Text("x")))
    for number in range(REPEATS):
        for tool in tools.values():
            # Grammars are remembered by the tool, and what a pattern of a schema means by the pattern.
            other = replace(tool, alias=f"{tool.alias}_{number}")
            (again if number else first).time(_from_schema, vocabulary, other)
            least.time(compiled, vocabulary, Grammar(Text("x")))
    return {"first": first.told(), "again": again.told(), "the shortest grammar": least.told()}
