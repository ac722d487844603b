"""A run of ToolDec's machine over one text: the state after each token, the finished calls, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from atc.decode.call_matcher import CallMatcher
from atc.decode.machine import Machine
from atc.decode.states import InArguments, InEnd, InName, InOpening, InText, Span, Where

Mode = Literal["thought", "text", "name", "arguments", "done"]


@dataclass(frozen=True, slots=True)
class State:
    """Where one stands; `tool` is the alias of the chosen one, empty outside of arguments."""

    mode: Mode
    tool: str = ""


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that was written to its end: the tool's alias, and its arguments as they were written.

    `problem` says what they break of the tool's schema: only what no grammar can hold (`Grammar.unheld`), so that
    mostly it is empty.
    """

    tool: str
    arguments: str
    problem: str = ""


class _Step(NamedTuple):
    """What was the case before a token."""

    where: Where
    length: int
    calls: int


class Run:
    """One text, token by token, from the state `first` on. In text mode `trigger_token`, where given, begins a call.

    `where` is the state it stands in, `matcher` the grammar's place where that is within arguments.
    """

    __slots__ = ("_spans", "_steps", "_text", "_tokens", "first", "machine", "matcher", "trigger_token", "where")

    def __init__(self, machine: Machine, first: Where, trigger_token: int | None = None) -> None:
        self.machine, self.first, self.trigger_token = machine, first, trigger_token
        self.where: Where = first
        self.matcher: CallMatcher | None = None
        self._text = bytearray()
        self._spans: list[Span] = []
        self._steps: list[_Step] = []
        self._tokens: list[int] = []

    def fresh(self) -> Run:
        """Another one at the start of its text."""
        return Run(self.machine, self.first, self.trigger_token)

    def copy(self) -> Run:
        """Another one at the same place."""
        other = Run(self.machine, self.first, self.trigger_token)
        other.where, other.matcher = self.where, self.matcher.copy() if self.matcher is not None else None
        other._text, other._spans = self._text.copy(), self._spans.copy()
        other._steps, other._tokens = self._steps.copy(), self._tokens.copy()
        return other

    # Moves

    def advance(self, token: int) -> None:
        """Take `token`.

        Raises:
            ValueError: it is not allowed; the automaton stands where it stood.
        """
        step = _Step(self.where, len(self._text), len(self._spans))
        if not self._moves(token):
            raise ValueError(f"the token {token} may not come next ({self.state}).")
        self._steps.append(step)
        self._tokens.append(token)
        self._text += self.machine.vocabulary.tokens[token]

    def _moves(self, token: int) -> bool:
        """Go where `token` leads; False, and the state as before, where it leads nowhere."""
        where, vocabulary = self.where, self.machine.vocabulary
        if token == self.trigger_token and isinstance(where, InText):
            self.where = self.machine.name_start
            return True
        if token in vocabulary.special:
            return self._moves_by_special(token)
        data = vocabulary.tokens[token] if 0 <= token < vocabulary.size else b""
        if not data:
            return False
        if isinstance(where, InArguments):
            return self._moves_in_arguments(where, token, data)
        if isinstance(where, InEnd):
            return False
        move = self.machine.walk(where, data, len(self._text), len(self._steps) + 1)
        if move is None:
            return False
        self.where, self.matcher = self._within_limit(move.where), move.matcher
        self._spans += move.finished
        return True

    def _moves_by_special(self, token: int) -> bool:
        if token in self.machine.vocabulary.eos and self.is_complete:
            self.where, self.matcher = InEnd(), None
            return True
        if not isinstance(self.where, InText) or not self.machine.again:
            return False
        self.where = InText()
        return True

    def _moves_in_arguments(self, where: InArguments, token: int, data: bytes) -> bool:
        matcher = self.matcher
        assert matcher is not None
        if not matcher.advance(token):
            return False
        if not self.machine.again or not matcher.is_complete:
            return True
        taken = len(data)
        if taken > 1:  # find out where in the token the call ends
            matcher.rollback(1)
            taken = self.machine.take(matcher, data)
        end = len(self._text) + taken
        move = self.machine.walk(InText(), data[taken:], end, len(self._steps) + 1)
        if move is None:
            matcher.rollback(taken)
            return False
        self._spans += (Span(where.key, where.start, end), *move.finished)
        self.where, self.matcher = move.where, move.matcher
        return True

    def _within_limit(self, where: Where) -> Where:
        """One token of text less, where text is limited: without any left, a call must begin."""
        if not isinstance(where, InText) or where.left is None:
            return where
        if where.left > 1:
            return where._replace(left=where.left - 1)
        start = self.machine.name_start
        return start._replace(lead=self.machine.trigger[where.progress :] + start.lead)

    def rollback(self, tokens: int) -> None:
        """Stand where one stood so many tokens ago.

        Raises:
            ValueError: so many were not taken.
        """
        if not 0 <= tokens <= len(self._steps):
            raise ValueError(f"{len(self._steps)} tokens were taken, so {tokens} cannot be given back.")
        if not tokens:
            return
        kept = len(self._steps) - tokens
        step = self._steps[kept]
        if isinstance(step.where, InArguments):
            self._return_to(step.where, kept, tokens)
        else:
            self.matcher = None
        self.where = step.where
        del self._text[step.length :], self._spans[step.calls :], self._steps[kept:], self._tokens[kept:]

    def _return_to(self, where: InArguments, kept: int, tokens: int) -> None:
        """Have the matcher stand where it stood after `kept` tokens, in the same call or an earlier one."""
        if isinstance(self.where, InArguments) and self.where.since == where.since:
            assert self.matcher is not None
            self.matcher.rollback(tokens)
            return
        self.matcher = self.machine.matcher(where.key)
        self.matcher.feed(where.fed)
        for token in self._tokens[where.since : kept]:
            self.matcher.advance(token)

    # What is the case

    @property
    def state(self) -> State:
        """Where one stands."""
        match self.where:
            case InText():
                return State("text" if self.machine.again else "thought")
            case InOpening():
                return State("thought")
            case InName():
                return State("name")
            case InArguments(key):
                return State("arguments", self.machine.trie.name(key))
            case InEnd():
                return State("done")

    @property
    def is_complete(self) -> bool:
        """Whether the text may end here: in text mode always, in tool mode with the call."""
        match self.where:
            case InText():
                return self.machine.again
            case InArguments():
                return not self.machine.again and self.matcher is not None and self.matcher.is_complete
            case InEnd():
                return True
        return False

    @property
    def is_finished(self) -> bool:
        """Whether the text was ended."""
        return isinstance(self.where, InEnd)

    @property
    def text(self) -> bytes:
        """What was written; special tokens write nothing."""
        return bytes(self._text)

    @property
    def calls(self) -> tuple[FinishedCall, ...]:
        """The calls that are complete, in their order."""
        spans = list(self._spans)
        where = self.where
        if isinstance(where, InEnd):
            where = self._steps[-1].where
        if isinstance(where, InArguments) and self.is_complete:
            spans.append(Span(where.key, where.start, len(self._text)))
        return tuple(self._call(span) for span in spans)

    def _call(self, span: Span) -> FinishedCall:
        written = self._text[span.start : span.end - len(self.machine.form.after.encode())].decode()
        return FinishedCall(self.machine.trie.name(span.key), written, self.machine.problem(span.key, written))
