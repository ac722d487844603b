"""A thin layer over llguidance: where one stands in a grammar, token by token or byte by byte.

llguidance raises nothing: it goes into a state of error and stays there. Here that is an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from atc.decode.errors import Undecodable
from atc.decode.lark import HEAD
from atc.decode.vocabulary import Vocabulary

if TYPE_CHECKING:
    from llguidance import LLMatcher
    from numpy import uint32
    from numpy.typing import NDArray

    from atc.decode.masks import MaskBuffer


_LONGEST_CLAUSE = 300
_FREE = '%llguidance {"no_forcing": true}\n'
"""Without it, a mask holds but one way to spell what must come next, and not all that do."""


_FUEL = 4_000_000
"""How much one mask may cost: 14,000 a ms. Patterns of ordinary length, counted and in a union, need up to 400,000."""


class Matcher:
    """A place in the sentences of `grammar`, llguidance's Lark (`%llguidance {}` and rules).

    Raises:
        Undecodable: llguidance refuses the grammar, or is not installed.
    """

    __slots__ = ("_buffer", "_matcher", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, grammar: str) -> None:
        tokenizer = vocabulary.lltokenizer
        from llguidance import LLMatcher, LLParserLimits

        self._vocabulary = vocabulary
        limits = LLParserLimits(step_lexer_fuel=_FUEL)
        self._matcher: LLMatcher = LLMatcher(tokenizer, _FREE + grammar.removeprefix(HEAD), log_level=0, limits=limits)
        self._buffer: MaskBuffer | None = None
        self._require_sound("the grammar cannot be compiled")

    def copy(self) -> Matcher:
        """Another one at the same place (10 µs)."""
        other = object.__new__(Matcher)
        other._vocabulary, other._buffer = self._vocabulary, None
        other._matcher = self._matcher.deep_copy()
        return other

    @property
    def is_complete(self) -> bool:
        """Whether what was taken is a sentence."""
        return self._matcher.is_accepting()

    @property
    def is_stopped(self) -> bool:
        """Whether nothing may follow any more."""
        return self._matcher.is_stopped()

    def mask(self) -> NDArray[uint32]:
        """Which tokens may come next, those that end a text among them where `is_complete`.

        `vocabulary.words` words, in a buffer that the next call writes over.
        """
        if self._buffer is None:
            from atc.decode.masks import MaskBuffer

            self._buffer = MaskBuffer(self._vocabulary)
        self._matcher.unsafe_compute_mask_ptr(self._buffer.address, self._buffer.size_bytes)
        if self._matcher.is_error():
            self._require_sound("no mask could be computed")
        return self._buffer.words

    def advance(self, token: int) -> bool:
        """Take `token`; False, and the place unchanged, where it is not allowed."""
        return self._matcher.try_consume_tokens([token]) == 1

    def replay(self, steps: Sequence[int]) -> None:
        """Take what another matcher of the same sentences took: tokens, and bytes as it was fed them."""
        if self._matcher.try_consume_tokens(list(steps)) < len(steps):
            raise Undecodable("what one matcher took is refused by another of the same grammar.")

    def feed(self, data: bytes) -> int:
        """Take as many bytes of `data`, each a step of its own, as are allowed; how many these are."""
        start = self._vocabulary.bytes_from
        return self._matcher.try_consume_tokens([start + byte for byte in data])

    def foresees(self, data: bytes) -> bool:
        """Whether `data` may come next. The place is unchanged."""
        start = self._vocabulary.bytes_from
        return self._matcher.validate_tokens([start + byte for byte in data]) == len(data)

    def rollback(self, steps: int) -> None:
        """Go back by so many tokens and bytes."""
        if steps and not self._matcher.rollback(steps):
            self._require_sound("what was taken cannot be given back")

    def forced(self) -> bytes:
        """The bytes that must come next, whatever is chosen."""
        return self._matcher.compute_ff_bytes()

    def _require_sound(self, problem: str) -> None:
        if self._matcher.is_error():
            raise Undecodable(f"{problem}: {_clause(self._matcher.get_error())}")


def _clause(error: str) -> str:
    """What llguidance says of an error without the state and the grammar that it adds."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    told = next((line for line in lines if "rror:" in line), lines[0] if lines else "")
    return told if len(told) <= _LONGEST_CLAUSE else f"{told[:_LONGEST_CLAUSE]}…"


@cache
def _bytes_alone() -> Vocabulary:
    return Vocabulary.byte_level()


@lru_cache(maxsize=8)
def _compiled(grammar: str) -> Matcher:
    """A statement's grammar is asked of several times: before it is sent, and of the reply."""
    return Matcher(_bytes_alone(), grammar)


def judge(grammar: str, text: str | bytes) -> Literal["complete", "unfinished", "outside"]:
    """Whether `text` is a sentence of `grammar`, the beginning of one, or neither; whatever the vocabulary.

    Raises:
        Undecodable: llguidance refuses the grammar, or is not installed.
    """
    data = text.encode() if isinstance(text, str) else text
    matcher = _compiled(grammar).copy()
    if matcher.feed(data) < len(data):
        return "outside"
    return "complete" if matcher.is_complete else "unfinished"
