"""A model writes a program statement by statement, each under the grammar of what may stand there.

A request holds the conversation and the program so far as the assistant's last words, so a server with a prefix cache
reads little more than one statement anew. Every reply is held against its grammar: an endpoint may ignore it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atc.decode.lark import lark
from atc.decode.matcher import judge
from atc.decode.program import FENCE, Statements
from atc.synthesize import Complete
from protocols.ask import Message

OPENING = f"{FENCE}python\n"
"""How the model's turn begins."""
PROGRAM_TOKENS = 900
"""Tokens written after which a program is only brought to its end."""
STATEMENT_TOKENS = 300
_REQUESTS = 80
"""More than the bounds of programs ask for: what is given up after them does not end."""
_LONGEST_PERIOD, _TIMES = 4, 3
"""A program repeats itself when as many lines as this, or fewer, stand so often one after another."""
_STUCK_TEMPERATURE = 0.7
_MOST_STUCK = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote: `source` without fences.

    `held`: replies were sentences of their grammars, but for one at most. `ended`: the model closed its program, or
    nothing but the end could follow. `why` is a clause where it did not end or was not held; `source` is then what
    came before.
    """

    source: str
    requests: int
    ended: bool
    held: bool = True
    why: str = ""


def write_program(
    messages: Sequence[Message],
    complete: Complete,
    statements: Statements,
    ending: Statements,
    *,
    purpose: str = "write",
    temperature: float = 0.0,
    seed: int = 0,
    before: str = "",
) -> Written:
    """Have a model answer `messages` with a program, or with the piece of one that stands behind `before`.

    It ends whatever the model prefers: when `PROGRAM_TOKENS` are written, or when it repeats itself, it goes on by
    `ending`, statements that leave only what leads to the end. From where a model was stuck (a repetition, a statement
    longer than `STATEMENT_TOKENS`, a reply outside its grammar) it goes on less greedily; the second reply outside a
    grammar, which a runtime gives whose limits are met, ends the program.

    Raises:
        Undecodable: no grammar can be made of what may follow, or llguidance refuses it.
        ModelUnavailable: no reply could be had.
    """
    source, tokens, stuck, outside, closing = "", 0, 0, 0, False
    for number in range(_REQUESTS):
        step = (ending if closing else statements).next(before + source)
        if step.must_end:
            return Written(source=source, requests=number, ended=True)
        grammar = lark(step.grammar)
        judge(grammar, "")  # servers pass over a grammar that is wrong in silence: it is found out here
        reply = complete(
            [*messages, Message("assistant", OPENING + source)],
            purpose=purpose,
            temperature=max(temperature, _STUCK_TEMPERATURE) if stuck else temperature,
            seed=seed + stuck,
            max_tokens=STATEMENT_TOKENS,
            grammar=grammar,
            statement=number,
        )
        tokens += reply.output_tokens
        verdict = judge(grammar, reply.text)
        outside += verdict == "outside"
        if outside > 1:
            why = f"a reply did not keep to its grammar ({reply.text[:60]!r})"
            return Written(source=source, requests=number + 1, ended=False, held=False, why=why)
        if verdict == "complete" and reply.text.lstrip().startswith(FENCE):
            return Written(source=source, requests=number + 1, ended=True)
        kept = once(source + reply.text) if verdict == "complete" else source
        stuck += kept != source + reply.text
        if stuck > _MOST_STUCK:
            return Written(source=kept, requests=number + 1, ended=False, why="it could not be brought to an end")
        source, closing = kept, tokens >= PROGRAM_TOKENS or stuck > 1
    return Written(source=source, requests=_REQUESTS, ended=False, why=f"it did not end in {_REQUESTS} statements")


def once(source: str) -> str:
    """The source without lines at its end that repeat those before them; as it came where none do."""
    lines = source.splitlines(keepends=True)
    for period in range(1, _LONGEST_PERIOD + 1):
        last = lines[-period:]
        if lines[-period * _TIMES :] == last * _TIMES:
            return "".join(lines[: -period * (_TIMES - 1)])
    return source
