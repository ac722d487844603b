"""Whether a reply is held to its grammar: compiled here too, by the llguidance that the runtime has inside.

llama.cpp's server leaves out a Lark grammar or a JSON Schema that llguidance refuses, and goes on without it where its
limits are met while a reply is written, in silence both times; others ignore fields that they do not know. So a grammar
is compiled before it is sent, and a reply is read by it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Literal

from atc.decode.errors import Undecodable
from atc.decode.grammar import judge
from protocols.ask import Completion
from protocols.errors import ModelUnavailable

_MOST_BROKEN = 3


class Holding:
    """Whether the runtime holds replies to grammars and schemas; `lost` has the power that it turned out to lack.

    A reply that breaks its grammar may be due to one place in it where more may follow than the runtime keeps. So a
    power is lost where no reply was ever held by it, or three were not.
    """

    def __init__(self, on_message: Callable[[str], None] = lambda _: None) -> None:
        self._on_message = on_message
        self._kept: set[str] = set()
        self._broken: Counter[str] = Counter()
        self.lost: set[str] = set()

    def judge(self, power: Literal["grammar", "schema"], grammar: str, completion: Completion) -> None:
        """Read a reply that should have been held, and say once of each power that one was not."""
        if keeps(grammar, completion.text, truncated=completion.truncated):
            self._kept.add(power)
            return
        self._broken[power] += 1
        if power not in self._kept or self._broken[power] >= _MOST_BROKEN:
            self.lost.add(power)
        if self._broken[power] == 1:
            old, many = "bring xllamacpp and llguidance up to date", "more may follow in it than llama.cpp keeps"
            self._on_message(f"llama.cpp did not hold a reply to its {power}; {many if power in self._kept else old}")


def installed() -> bool:
    """Whether Lark grammars can be compiled here."""
    return find_spec("llguidance") is not None


def require_taken(grammar: str) -> str:
    """The grammar in Lark. Raises ModelUnavailable where llguidance refuses it, or is not installed to be asked."""
    if not installed():
        raise ModelUnavailable(
            "a grammar in Lark needs 'llguidance', which is not installed: "
            'pip install "automatic-tool-chain[decode]", or ask without one.'
        )
    if reason := problem(grammar):
        raise ModelUnavailable(f"no reply can be held to this grammar: {reason}; correct it, or ask without one.")
    return grammar


def keeps(grammar: str, text: str, *, truncated: bool) -> bool:
    """Whether `text` is a sentence of the grammar, or the beginning of one that was truncated.

    True where it cannot be told, without llguidance.
    """
    if not installed():
        return True
    verdict = judge(grammar, text.rstrip("\ufffd") if truncated else text)  # a character may be cut too
    return verdict == "complete" or (verdict == "unfinished" and truncated)


def problem(grammar: str) -> str:
    """Why llguidance refuses a grammar in Lark, on one line; empty where it takes it."""
    try:
        judge(grammar, "")
    except Undecodable as error:
        return " ".join(str(error).split())[:300]
    return ""


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar that llama.cpp's server makes of a JSON Schema."""
    return f"%llguidance {{}}\nstart: %json {json.dumps(schema)}\n"


def usable(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema as llama.cpp is to be sent it, so that it enforces what it can; None where it can use none of it.

    The lenient form has llguidance pass over keywords that it cannot enforce (`not`, `uniqueItems` …).
    """
    lenient = {**schema, "x-guidance": {"lenient": True}}
    if not installed():
        return lenient
    return next((form for form in (dict(schema), lenient) if not problem(schema_grammar(form))), None)
