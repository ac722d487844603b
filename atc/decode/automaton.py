"""ToolDec's finite-state machine (section 3): which tokens a model may write, so that every tool call is a valid one.

In text mode a model writes what it likes; the trigger switches to tool mode, where it writes a name, by a trie of all
names, and then arguments, by the grammar of the chosen tool alone, which is compiled when it is chosen. A token may lie
across any of these borders: it is allowed exactly if each of its bytes is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

from atc.decode.arguments import arguments_grammar
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.call_matcher import CallMatcher
from atc.decode.errors import Undecodable
from atc.decode.formats import CallFormat
from atc.decode.machine import ArgumentsOf, Machine
from atc.decode.masks import Mask, MaskBuffer, is_in, mask_of
from atc.decode.states import InArguments, InEnd, InName, InOpening, InText, Span, Where
from atc.decode.text_mode import TextMode
from atc.decode.vocabulary import Vocabulary
from protocols.toolbox import Toolbox

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


class ToolAutomaton:
    """One text that is being written, token by token.

    Where `form` has a trigger, or `trigger_token` is one, it begins in text mode; else in tool mode, and one call is
    the whole text. Automata of one family (`fresh`, `copy`) share all that was compiled; one of them is for one thread.

    Raises:
        Undecodable: no tools, names that are empty, double or cannot be spelled, a form whose calls have no end; later,
            when a tool is chosen, a schema that no grammar can be made of (`check` finds them all beforehand).
    """

    def __init__(
        self,
        tools: Toolbox,
        vocabulary: Vocabulary,
        form: CallFormat,
        *,
        bounds: Bounds = BOUNDS,
        trigger_token: int | None = None,
        arguments: ArgumentsOf = arguments_grammar,
    ) -> None:
        amid_text = bool(form.trigger) or trigger_token is not None
        if amid_text and not form.after and form.arguments != "json":
            raise Undecodable(f"calls of the format {form.name!r} have no end (`after`), so text cannot follow them.")
        if trigger_token is not None and (
            trigger_token not in range(vocabulary.size) or trigger_token in vocabulary.eos
        ):
            raise Undecodable(f"the token {trigger_token} cannot begin a call; name another `trigger_token`.")
        machine = Machine(tools, vocabulary, form, bounds=bounds, arguments=arguments, again=amid_text)
        self._begin(machine, InText() if amid_text else machine.name_start, trigger_token=trigger_token)

    def _begin(self, machine: Machine, where: Where, *, trigger_token: int | None = None) -> None:
        """Stand at the start, sharing nothing but `machine`."""
        ending = (machine.form.after.encode() or b"}")[-1:] if machine.again else b""
        self._machine, self.vocabulary = machine, machine.vocabulary
        self._text_mode = TextMode(
            machine.vocabulary,
            machine.trigger,
            ending,
            special=machine.again,
            goes=lambda progress, data: machine.goes(InText(progress), data),
        )
        self._ends = mask_of(machine.vocabulary.eos, machine.vocabulary)
        self._trigger_token = trigger_token
        self._first = where
        self._restart()

    def _restart(self) -> None:
        self._where: Where = self._first
        self._matcher: CallMatcher | None = None
        self._text = bytearray()
        self._spans: list[Span] = []
        self._steps: list[_Step] = []
        self._tokens: list[int] = []
        self._buffer = MaskBuffer(self.vocabulary)

    def fresh(self) -> Self:
        """One at the start of its text."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._restart()
        return other

    def copy(self) -> Self:
        """One at the same place."""
        other = self.fresh()
        vars(other).update(
            _where=self._where,
            _matcher=self._matcher.copy() if self._matcher is not None else None,
            _text=self._text.copy(),
            _spans=self._spans.copy(),
            _steps=self._steps.copy(),
            _tokens=self._tokens.copy(),
        )
        return other

    # Masks and moves

    def allowed(self) -> Mask:
        """Which tokens may come next: a mask of `vocabulary.words` words of 32 bits.

        It may be written over by the next call of any method; copy what is kept. Once the text is ended it holds the
        tokens that end one.
        """
        match self._where:
            case InText(progress):
                return self._text_mode.mask(progress)
            case InOpening(rest):
                return self._text_mode.opening(rest)
            case InName() as where:
                return self._machine.name_mask(where, self._buffer)
            case InArguments():
                return self._arguments_mask()
            case InEnd():
                return self._ends

    def _arguments_mask(self) -> Mask:
        assert self._matcher is not None
        if not self._machine.again and self._matcher.is_stopped:
            return self._ends
        mask = self._matcher.mask()
        for token in self._text_mode.risky:
            if is_in(token, mask) and not self.allows(token):
                mask[token >> 5] &= ~(1 << (token & 31)) & 0xFFFFFFFF
        return mask

    def allows(self, token: int) -> bool:
        """Whether `token` may come next."""
        try:
            self.advance(token)
        except ValueError:
            return False
        self.rollback(1)
        return True

    def advance(self, token: int) -> None:
        """Take `token`.

        Raises:
            ValueError: it is not allowed; the automaton stands where it stood.
        """
        step = _Step(self._where, len(self._text), len(self._spans))
        if not self._moves(token):
            raise ValueError(f"the token {token} may not come next ({self.state}).")
        self._steps.append(step)
        self._tokens.append(token)
        self._text += self.vocabulary.tokens[token]

    def _moves(self, token: int) -> bool:
        """Go where `token` leads; False, and the state as before, where it leads nowhere."""
        where, vocabulary = self._where, self.vocabulary
        if token == self._trigger_token and isinstance(where, InText):
            self._where = self._machine.name_start
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
        move = self._machine.walk(where, data, len(self._text), len(self._steps) + 1)
        if move is None:
            return False
        self._where, self._matcher = self._within_limit(move.where), move.matcher
        self._spans += move.finished
        return True

    def _moves_by_special(self, token: int) -> bool:
        if token in self.vocabulary.eos and self.is_complete:
            self._where, self._matcher = InEnd(), None
            return True
        if not isinstance(self._where, InText) or not self._machine.again:
            return False
        self._where = InText()
        return True

    def _moves_in_arguments(self, where: InArguments, token: int, data: bytes) -> bool:
        matcher = self._matcher
        assert matcher is not None
        if not matcher.advance(token):
            return False
        if not self._machine.again or not matcher.is_complete:
            return True
        taken = len(data)
        if taken > 1:  # find out where in the token the call ends
            matcher.rollback(1)
            taken = self._machine.take(matcher, data)
        end = len(self._text) + taken
        move = self._machine.walk(InText(), data[taken:], end, len(self._steps) + 1)
        if move is None:
            matcher.rollback(taken)
            return False
        self._spans += (Span(where.key, where.start, end), *move.finished)
        self._where, self._matcher = move.where, move.matcher
        return True

    def _within_limit(self, where: Where) -> Where:
        """One token of text less, where text is limited: without any left, a call must begin."""
        if not isinstance(where, InText) or where.left is None:
            return where
        if where.left > 1:
            return where._replace(left=where.left - 1)
        start = self._machine.name_start
        return start._replace(lead=self._machine.trigger[where.progress :] + start.lead)

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
            self._matcher = None
        self._where = step.where
        del self._text[step.length :], self._spans[step.calls :], self._steps[kept:], self._tokens[kept:]

    def _return_to(self, where: InArguments, kept: int, tokens: int) -> None:
        """Have the matcher stand where it stood after `kept` tokens, in the same call or an earlier one."""
        if isinstance(self._where, InArguments) and self._where.since == where.since:
            assert self._matcher is not None
            self._matcher.rollback(tokens)
            return
        self._matcher = self._machine.matcher(where.key)
        self._matcher.feed(where.fed)
        for token in self._tokens[where.since : kept]:
            self._matcher.advance(token)

    # What is the case

    @property
    def state(self) -> State:
        """Where one stands."""
        match self._where:
            case InText():
                return State("text" if self._machine.again else "thought")
            case InOpening():
                return State("thought")
            case InName():
                return State("name")
            case InArguments(key):
                return State("arguments", self._machine.trie.name(key))
            case InEnd():
                return State("done")

    @property
    def is_complete(self) -> bool:
        """Whether the text may end here: in text mode always, in tool mode with the call."""
        match self._where:
            case InText():
                return self._machine.again
            case InArguments():
                return not self._machine.again and self._matcher is not None and self._matcher.is_complete
            case InEnd():
                return True
        return False

    @property
    def is_finished(self) -> bool:
        """Whether the text was ended."""
        return isinstance(self._where, InEnd)

    @property
    def text(self) -> bytes:
        """What was written; special tokens write nothing."""
        return bytes(self._text)

    @property
    def calls(self) -> tuple[FinishedCall, ...]:
        """The calls that are complete, in their order."""
        spans = list(self._spans)
        where = self._where
        if isinstance(where, InEnd):
            where = self._steps[-1].where
        if isinstance(where, InArguments) and self.is_complete:
            spans.append(Span(where.key, where.start, len(self._text)))
        return tuple(self._call(span) for span in spans)

    def _call(self, span: Span) -> FinishedCall:
        written = self._text[span.start : span.end - len(self._machine.form.after.encode())].decode()
        return FinishedCall(self._machine.trie.name(span.key), written, self._machine.problem(span.key, written))

    def forced(self) -> list[int]:
        """Tokens that spell what must come next whatever is chosen, so that no model need be asked; often none."""
        match self._where:
            case InOpening(rest):
                data = rest
            case InName(lead, place):
                data = lead + self._machine.trie.forced(place)
            case InArguments() if self._matcher is not None and not self.is_complete:
                data = self._matcher.forced()
            case _:
                data = b""
        return self.vocabulary.encode(data)

    def check(self) -> None:
        """Compile the arguments of every tool, as is else done when one is chosen. Raises Undecodable."""
        self._machine.check()
