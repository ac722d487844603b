"""Programs decoded statement by statement with a sampler, checked, and run on tools that answer with made-up values."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from atc.check import check
from atc.types import Program
from protocols.protocol import ToolProtocol
from protocols.toolbox import Call, Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from toolflow_bench.decoding.random.samplers import Sampler, unpack
from toolflow_bench.decoding.random.values import conforming

if TYPE_CHECKING:
    from atc.decode.program import Statements
    from atc.decode.vocabulary import Vocabulary

MOST_TOKENS = 16_384
"""Of one program; one that has not ended by then counts as unfinished."""
LIMITS = Limits(wall_seconds=10, cpu_seconds=5, tool_calls=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedProgram:
    """What was written. `problem` is empty where the program ended of itself or by its bounds."""

    source: str
    statements: int
    tokens: int
    problem: str = ""


def decode_program(statements: Statements, sampler: Sampler, vocabulary: Vocabulary) -> DecodedProgram:
    """Sample statements until the end is written, or nothing else may follow.

    Raises:
        Undecodable: `statements` cannot go on from what they derived themselves, or a tool's schema cannot be decoded.
    """
    from atc.decode.lark import lark
    from atc.decode.matcher import Matcher
    from atc.decode.program import FENCE

    source, written, tokens = "", 0, 0
    while True:
        step = statements.next(source)
        if step.must_end:
            break
        matcher = Matcher(vocabulary, lark(step.grammar))
        text = b""
        while True:
            allowed = unpack(matcher.mask(), vocabulary.size)
            if not len(allowed):
                problem = "" if matcher.is_complete else "no token may follow"
                break
            token = sampler(allowed)
            if token in vocabulary.eos:
                problem = ""
                break
            if not matcher.advance(token):
                problem = f"a token of the mask is refused: {vocabulary.tokens[token]!r}"
                break
            text, tokens = text + vocabulary.tokens[token], tokens + 1
            if tokens > MOST_TOKENS:
                problem = f"not ended after {MOST_TOKENS} tokens"
                break
        if problem:
            told = source + text.decode(errors="backslashreplace")
            return DecodedProgram(source=told, statements=written, tokens=tokens, problem=problem)
        if text.startswith(FENCE.encode()):
            break
        source, written = source + text.decode(), written + 1
    return DecodedProgram(source=source, statements=written, tokens=tokens)


def certain_findings(source: str, tools: Toolbox) -> list[str]:
    """What the static check is certain of."""
    found = check(Program(source), tools)
    return [f"{finding.code}: {finding.message} (line {finding.line})" for finding in found if finding.certain]


def run_on_mocks(source: str, tools: Toolbox, sandbox: Sandbox, *, seed: int) -> str:
    """What stopped the program (`KeyError: 'id'`), each response a made-up value that conforms; empty: it ran."""
    rng = random.Random(f"mocks {seed}")  # noqa: S311 - made-up values, not secrecy
    trace = sandbox.run(source, mocked(tools, rng), limits=LIMITS, journal=Journal())
    return "" if trace.failure is None else f"{trace.failure.type}: {trace.failure.message}"


def mocked(tools: Toolbox, rng: random.Random) -> Toolbox:
    """The same tools, answering with values that conform to what they say they answer."""

    def calling(protocol: ToolProtocol) -> Call:
        schema = protocol.output_schema or {"type": "object"}
        return lambda arguments: conforming(schema, rng)  # noqa: ARG005 - the shape of a call

    def answered(tool: Tool) -> Tool:
        return replace(tool, call=calling(tool.protocol))

    return tools.map(answered)
