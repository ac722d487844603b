"""Masks of a call's arguments, ten times faster than its grammar alone gives them.

To count the characters of a string, llguidance's lexer has a state for each count, and works out a mask in each; in a
string without end it has one, whose mask it keeps. While a call is shorter than its shortest bound, no count can have
come to its end, so that the masks of both are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from atc.decode.errors import Undecodable
from atc.decode.grammar import AnyOrder, Choice, Grammar, Node, Pattern, Repeat, Sequence
from atc.decode.lark import lark
from atc.decode.masks import Mask
from atc.decode.matcher import Matcher
from atc.decode.vocabulary import Vocabulary

_LONG = 200
"""Repetitions from which on a count is worth leaving out."""
_COUNTED = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]?|\{(\d+),(\d+)\}", re.DOTALL)


class CompiledCall:
    """A grammar compiled for one vocabulary, from which matchers start. What llguidance learns of it they share.

    Raises:
        Undecodable: llguidance refuses the grammar, or is not installed.
    """

    def __init__(self, vocabulary: Vocabulary, grammar: Grammar) -> None:
        self.vocabulary, self._grammar = vocabulary, grammar
        self._loose_grammar, shortest = without_long_counts(grammar)
        self._exact: Matcher | None = None
        self._loose = Matcher(vocabulary, lark(self._loose_grammar))
        # within one token a count may grow by as much as the longest token
        self.loose_bytes = None if shortest is None else shortest - vocabulary.longest

    def start(self) -> CallMatcher:
        """A matcher at the beginning (10 µs)."""
        return CallMatcher(self, self._loose.copy())

    def exact(self) -> Matcher:
        """A matcher of the very grammar, at the beginning."""
        if self._exact is None:
            self._exact = Matcher(self.vocabulary, lark(self._grammar))
        return self._exact.copy()

    def renew(self) -> None:
        """Compile anew: what llguidance learns of a grammar is limited, and it never forgets."""
        self._loose, self._exact = Matcher(self.vocabulary, lark(self._loose_grammar)), None


class CallMatcher:
    """A place in the sentences of a compiled grammar; its methods are those of `Matcher`."""

    __slots__ = ("_compiled", "_is_loose", "_length", "_now", "_steps")

    def __init__(self, compiled: CompiledCall, matcher: Matcher) -> None:
        self._compiled, self._now = compiled, matcher
        self._is_loose = compiled.loose_bytes is not None
        self._steps: list[int] = []
        self._length = 0  # bytes

    def copy(self) -> CallMatcher:
        """Another one at the same place."""
        other = CallMatcher(self._compiled, self._now.copy())
        other._is_loose, other._steps, other._length = self._is_loose, self._steps.copy(), self._length
        return other

    @property
    def is_complete(self) -> bool:
        """Whether what was taken is a sentence."""
        return self._now.is_complete

    @property
    def is_stopped(self) -> bool:
        """Whether nothing may follow any more."""
        return self._now.is_stopped

    def mask(self) -> Mask:
        """Which tokens may come next; see `Matcher.mask`."""
        matcher = self._matcher_for(0)
        try:
            return matcher.mask()
        except Undecodable:
            self._compiled.renew()
            return self._become_exact().mask()

    def forced(self) -> bytes:
        """The bytes that must come next, whatever is chosen."""
        return self._matcher_for(0).forced()

    def advance(self, token: int) -> bool:
        """Take `token`; False, and the place unchanged, where it is not allowed."""
        if not self._matcher_for(0).advance(token):
            return False
        self._steps.append(token)
        self._length += len(self._compiled.vocabulary.tokens[token])
        return True

    def feed(self, data: bytes) -> int:
        """Take as many bytes of `data`, each a step of its own, as are allowed; how many these are."""
        taken = self._matcher_for(len(data)).feed(data)
        start = self._compiled.vocabulary.bytes_from
        self._steps += [start + byte for byte in data[:taken]]
        self._length += taken
        return taken

    def rollback(self, steps: int) -> None:
        """Go back by so many tokens and bytes."""
        if not steps:
            return
        self._now.rollback(steps)
        vocabulary = self._compiled.vocabulary
        for step in self._steps[-steps:]:
            self._length -= 1 if step >= vocabulary.bytes_from else len(vocabulary.tokens[step])
        del self._steps[-steps:]

    def _matcher_for(self, more: int) -> Matcher:
        """The matcher that is right for what comes next, a token or `more` bytes."""
        limit = self._compiled.loose_bytes
        if self._is_loose and limit is not None and self._length + more > limit:
            return self._become_exact()
        return self._now

    def _become_exact(self) -> Matcher:
        """Go on with the very grammar."""
        self._now, self._is_loose = self._compiled.exact(), False
        self._now.replay(self._steps)
        return self._now


def without_long_counts(grammar: Grammar) -> tuple[Grammar, int | None]:
    """`grammar` with what may repeat very often repeating for ever, and how often the least of these might; None: none.

    Terminals that are more than one expression stay: of these, a shorter text may have no end.
    """
    found: list[int] = []

    def endless(count: re.Match[str]) -> str:
        if count[2] is None or int(count[2]) < _LONG:
            return count[0]
        found.append(int(count[2]))
        return f"{{{count[1]},}}"

    def loosen(pattern: Pattern) -> Pattern:
        if pattern.also or pattern.never:
            return pattern
        return Pattern(_COUNTED.sub(endless, pattern.regex))

    rules = {name: _with_patterns(node, loosen) for name, node in grammar.rules.items()}
    loose = replace(grammar, start=_with_patterns(grammar.start, loosen), rules=rules)
    return loose, min(found, default=None)


def _with_patterns(node: Node, change: Callable[[Pattern], Pattern]) -> Node:
    """`node` with each of its patterns changed."""
    match node:
        case Pattern():
            return change(node)
        case Sequence(parts):
            return Sequence(tuple(_with_patterns(part, change) for part in parts))
        case Choice(parts):
            return Choice(tuple(_with_patterns(part, change) for part in parts))
        case Repeat():
            return replace(node, part=_with_patterns(node.part, change))
        case AnyOrder():
            items = tuple((_with_patterns(item, change), must) for item, must in node.items)
            return replace(node, items=items, separator=_with_patterns(node.separator, change))
        case _:
            return node
