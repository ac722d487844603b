"""ToolDec's finite-state machine (section 3): which tokens a model may write, so that every tool call is a valid one.

In text mode a model writes what it likes; the trigger switches to tool mode, where it writes a name, by a trie of all
names, and then arguments, by the grammar of the chosen tool alone, which is compiled when it is chosen. A token may lie
across any of these borders: it is allowed exactly if each of its bytes is.
"""

from __future__ import annotations

from typing import Self

from atc.decode.arguments import arguments_grammar
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.formats import CallFormat
from atc.decode.machine import ArgumentsOf, Machine
from atc.decode.masks import Mask, MaskBuffer, is_in, mask_of
from atc.decode.run import FinishedCall, Run, State
from atc.decode.states import InArguments, InEnd, InName, InOpening, InText, Where
from atc.decode.text_mode import TextMode
from atc.decode.vocabulary import Vocabulary
from protocols.toolbox import Toolbox


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

    def _begin(self, machine: Machine, first: Where, *, trigger_token: int | None = None) -> None:
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
        self._stand(Run(machine, first, trigger_token))

    def _stand(self, run: Run) -> None:
        self._run, self._buffer = run, MaskBuffer(self.vocabulary)

    def _with(self, run: Run) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._stand(run)
        return other

    def fresh(self) -> Self:
        """One at the start of its text."""
        return self._with(self._run.fresh())

    def copy(self) -> Self:
        """One at the same place."""
        return self._with(self._run.copy())

    # Masks and moves

    def allowed(self) -> Mask:
        """Which tokens may come next: a mask of `vocabulary.words` words of 32 bits.

        It may be written over by the next call of any method; copy what is kept. Once the text is ended it holds the
        tokens that end one.
        """
        match self._run.where:
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
        matcher = self._run.matcher
        assert matcher is not None
        if not self._machine.again and matcher.is_stopped:
            return self._ends
        mask = matcher.mask()
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
        self._run.advance(token)

    def rollback(self, tokens: int) -> None:
        """Stand where one stood so many tokens ago.

        Raises:
            ValueError: so many were not taken.
        """
        self._run.rollback(tokens)

    # What is the case

    @property
    def state(self) -> State:
        """Where one stands."""
        return self._run.state

    @property
    def is_complete(self) -> bool:
        """Whether the text may end here: in text mode always, in tool mode with the call."""
        return self._run.is_complete

    @property
    def is_finished(self) -> bool:
        """Whether the text was ended."""
        return isinstance(self._run.where, InEnd)

    @property
    def text(self) -> bytes:
        """What was written; special tokens write nothing."""
        return self._run.text

    @property
    def calls(self) -> tuple[FinishedCall, ...]:
        """The calls that are complete, in their order."""
        return self._run.calls

    def forced(self) -> list[int]:
        """Tokens that spell what must come next whatever is chosen, so that no model need be asked; often none."""
        match self._run.where:
            case InOpening(rest):
                data = rest
            case InName(lead, place):
                data = lead + self._machine.trie.forced(place)
            case InArguments() if self._run.matcher is not None and not self.is_complete:
                data = self._run.matcher.forced()
            case _:
                data = b""
        return self.vocabulary.encode(data)

    def check(self) -> None:
        """Compile the arguments of every tool, as is else done when one is chosen. Raises Undecodable."""
        self._machine.check()
