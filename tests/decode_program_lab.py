"""Random walks over the steps of `Statements`, and how much of a given program the steps accept."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import llguidance
import numpy

from atc.check import check
from atc.decode.errors import Undecodable
from atc.decode.lark import lark
from atc.decode.program import FENCE, Statements, Step
from atc.decode.vocabulary import Vocabulary
from atc.findings import render_finding
from atc.grounding import made_up
from atc.types import Finding, Program
from protocols.toolbox import Toolbox


@cache
def bytes_tokenizer() -> Any:
    """A vocabulary of single bytes."""
    return llguidance.LLTokenizer("byte")


@cache
def long_tokenizer() -> Any:
    """A vocabulary as a model's: whole words, rows of spaces, and tokens that go on after a quote or a newline."""
    text = Path(__file__).read_text("utf-8")
    pieces = {text[i : i + size] for i in range(len(text) - 12) for size in (2, 3, 4, 5, 7, 9, 12)}
    pieces |= {f"{mark}{end}" for mark in ")]}\"':" for end in ("\n", "\n\n", "\n    ", "\n# ", " # ", "\n```")}
    tokens = [bytes([byte]) for byte in range(256)] + sorted(piece.encode() for piece in pieces)
    return Vocabulary([*tokens, b""], eos=[len(tokens)]).lltokenizer


@dataclass
class Walk:
    """A program that random choices wrote, and what is wrong with it."""

    source: str = ""
    ended: bool = False
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    steps: int = 0
    grammars: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return self.ended and not self.problem and not self.findings


def walk(
    tools: Toolbox,
    seed: int,
    *,
    most_steps: int = 60,
    tokenizer: Any = None,
    statements: Any = None,
    end: float = 0.3,
    task: str = "",
) -> Walk:
    """Write a program for `task` with random logits, token by token, within the steps' grammars."""
    rng = numpy.random.default_rng(seed)
    made = Walk()
    steps = statements or Statements(tools, task=task)
    for _ in range(most_steps):
        try:
            step: Step = steps.next(made.source)
        except Undecodable as error:
            made.problem = str(error)
            return made
        made.steps += 1
        if step.may_end and (step.must_end or rng.random() < end):
            made.ended = True
            break
        text = sample(lark(step.grammar), rng, tokenizer)
        if text is None or text.startswith("!"):
            made.problem = text or "?"
            return made
        if text.startswith(FENCE):
            made.ended = True
            break
        made.source += text
    else:
        made.problem = "no end"
    program = Program(source=made.source)
    made.findings = check(program, tools) + (made_up(program, task, tools) if task else ())
    return made


def sample(grammar: str, rng: numpy.random.Generator, tokenizer: Any = None, most: int = 3000) -> str | None:
    """A random sentence of the grammar; a text that begins with `!` says what went wrong."""
    tokenizer = tokenizer or bytes_tokenizer()
    matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    if matcher.is_error():
        return f"!{matcher.get_error()[:500]}"
    tokens: list[int] = []
    while len(tokens) < most and not matcher.is_stopped():
        mask = numpy.frombuffer(matcher.compute_bitmask(), dtype=numpy.uint8)
        if matcher.is_error():
            return f"!no mask after {tokenizer.decode_str(tokens)!r}: {matcher.get_error()[:300]}"
        allowed = numpy.unpackbits(mask, bitorder="little")[: tokenizer.vocab_size].astype(bool)
        if matcher.is_accepting():
            break
        if not allowed.any():
            return f"!nothing may follow {tokenizer.decode_str(tokens)!r}"
        token = int(numpy.where(allowed, _logits(rng, tokenizer.vocab_size), -numpy.inf).argmax())
        if not matcher.consume_token(token):
            return f"!refused {token} after {tokenizer.decode_str(tokens)!r}"
        tokens.append(token)
    text = str(tokenizer.decode_str(tokens))
    return text if matcher.is_accepting() else f"!unfinished: {text[:200]!r}"


_BIAS = numpy.array(
    [-4.0 if b >= 128 else 2.5 if chr(b) in "\"'" else 1.0 if not chr(b).isalnum() else 0.0 for b in range(256)]
)
"""Random, but for what keeps texts and names short: an end of a word is likelier than one more letter."""


def _logits(rng: numpy.random.Generator, size: int) -> Any:
    logits = rng.gumbel(size=size)
    logits[:256] += _BIAS[: min(size, 256)]
    return logits


def accepts(grammar: str, text: str) -> int | None:
    """None where the grammar derives the text; else at which character it stops."""
    tokenizer = bytes_tokenizer()
    matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    if matcher.is_error():
        raise AssertionError(matcher.get_error())
    tokens = tokenizer.tokenize_str(text)
    count = matcher.try_consume_tokens(tokens)
    if count < len(tokens):
        return int(count)
    return None if matcher.is_accepting() else len(tokens)


def pieces(source: str) -> list[str]:
    """A program as the steps would write it: each statement and each header of a block on a line."""
    tree = ast.parse(source)
    found: list[str] = []

    def write(body: list[ast.stmt], depth: int) -> None:
        for statement in body:
            lines = [_line(statement, source)]
            blocks = [getattr(statement, name, None) for name in ("body",)]
            if not blocks[0]:
                found.append(textwrap.indent(lines[0], "    " * depth) + "\n")
                continue
            if isinstance(statement, ast.If):
                _write_if(statement, depth, "if")
                continue
            found.append(textwrap.indent(lines[0], "    " * depth) + "\n")
            write(statement.body, depth + 1)
            for handler in getattr(statement, "handlers", ()):
                found.append("    " * depth + ast.unparse(handler).split("\n")[0] + "\n")
                write(handler.body, depth + 1)
            for name, word in (("orelse", "else"), ("finalbody", "finally")):
                if getattr(statement, name, None):
                    found.append("    " * depth + f"{word}:\n")
                    write(getattr(statement, name), depth + 1)

    def _write_if(statement: ast.If, depth: int, word: str) -> None:
        found.append("    " * depth + f"{word} {ast.unparse(statement.test)}:\n")
        write(statement.body, depth + 1)
        match statement.orelse:
            case []:
                return
            case [ast.If() as inner]:
                _write_if(inner, depth, "elif")
            case other:
                found.append("    " * depth + "else:\n")
                write(other, depth + 1)

    write(tree.body, 0)
    return found


def _line(statement: ast.stmt, source: str) -> str:
    """A statement, or the header of a block, on one line: as it is written where it is one already."""
    body = getattr(statement, "body", None)
    lines = source.split("\n")
    first = lines[statement.lineno - 1].strip()
    alone = body[0].lineno > statement.lineno if body else statement.end_lineno == statement.lineno
    if alone and (not body or first.endswith(":")) and ";" not in first and "  #" not in first:
        return first
    return re.sub(r"\b(\w+)\(\((.* for .*)\)\)$", r"\1(\2)", ast.unparse(statement).split("\n")[0])


@dataclass
class Acceptance:
    """Of a program's statements, those that the steps derive; for the others, where they stop."""

    accepted: int = 0
    refused: list[tuple[str, int, str]] = field(default_factory=list)


def acceptance(source: str, statements: Statements) -> Acceptance:
    """Offer a program statement by statement; a refused one is taken all the same, so that the next can be asked."""
    result = Acceptance()
    before = ""
    for piece in pieces(source):
        try:
            stop = accepts(lark(statements.next(before).grammar), piece)
            why = ""
        except Exception as error:  # whatever it is, the program went on without the grammar
            stop, why = 0, f"{type(error).__name__}: {error}"
        if stop is None:
            result.accepted += 1
        else:
            result.refused.append((piece, stop, why))
        before += piece
    return result


def told(made: Walk) -> str:
    """A walk for a person."""
    findings = "\n".join(render_finding(found, Program(source=made.source)) for found in made.findings)
    return f"{made.source}\n{made.problem}\n{findings}"
