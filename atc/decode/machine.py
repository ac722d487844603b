"""The moves of ToolDec's machine between its states, and what all automata over the same tools share."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from atc.decode.bounds import Bounds
from atc.decode.call_matcher import CallMatcher, CompiledCall
from atc.decode.errors import Undecodable
from atc.decode.faults import CallError
from atc.decode.formats import ArgumentForm, CallFormat
from atc.decode.grammar import Grammar, Pattern, Repeat, Sequence, Text
from atc.decode.masks import Mask, MaskBuffer, mask_of
from atc.decode.read import read_arguments
from atc.decode.states import InArguments, InName, InOpening, InText, Move, Span, Where
from atc.decode.trie import NameTrie, Place
from atc.decode.vocabulary import Vocabulary
from protocols.toolbox import Tool, Toolbox

_ANYTHING = Repeat(Pattern("(?s:.+)"), 0, 1)
_KEPT_MASKS = 2_048  # of places among names; 6 kB each for 49,152 tokens
_KEPT_CALLS = 256  # tools whose arguments stay compiled


class ArgumentsOf(Protocol):
    """Gives the grammar of a tool's arguments, as `atc.decode.arguments.arguments_grammar` does."""

    def __call__(self, tool: Tool, form: ArgumentForm, *, bounds: Bounds) -> Grammar:
        """The grammar; raises Undecodable."""


class Machine:
    """The moves between states. Its caches grow; else immutable. `again` says that text may follow a call."""

    def __init__(
        self,
        tools: Toolbox,
        vocabulary: Vocabulary,
        form: CallFormat,
        *,
        bounds: Bounds,
        arguments: ArgumentsOf,
        again: bool,
    ) -> None:
        self.vocabulary, self.form, self.again = vocabulary, form, again
        self.trigger, self.before = form.trigger.encode(), form.before.encode()
        self.trie = NameTrie(tools, vocabulary, between=form.between)
        self._tools, self._bounds, self._arguments = tools, bounds, arguments
        self._compiled: dict[int, CompiledCall] = {}  # the one used last at the end
        self._unheld: set[int] = set()  # tools whose schemas say more than a grammar can
        self._name_masks: dict[InName, Mask] = {}
        self.name_mask(self.name_start, MaskBuffer(vocabulary))  # the slowest of all, and every call's first

    @property
    def name_start(self) -> InName:
        """Tool mode's first state."""
        return InName(self.before, self.trie.start)

    # The arguments of the tool that was chosen

    def matcher(self, index: int) -> CallMatcher:
        """One that stands behind the name of the trie's key `index`.

        Raises:
            Undecodable: no grammar can be made of the tool's schema.
        """
        compiled = self._compiled.pop(index, None)
        if compiled is None:
            compiled = self._compile(index)
            if len(self._compiled) >= _KEPT_CALLS:
                del self._compiled[next(iter(self._compiled))]
        self._compiled[index] = compiled
        return compiled.start()

    def _compile(self, index: int) -> CompiledCall:
        tool = self._tools[self.trie.name(index)]
        grammar = self._grammar(tool)
        if grammar.unheld:
            self._unheld.add(index)
        try:
            return CompiledCall(self.vocabulary, grammar)
        except Undecodable as error:
            raise Undecodable(error.problem, tool=tool.alias) from error

    def problem(self, index: int, arguments: str) -> str:
        """What finished arguments break of what no grammar of the tool holds; empty where it is nothing."""
        if index not in self._unheld:
            return ""
        found = read_arguments(arguments, self._tools[self.trie.name(index)], self.form.arguments)
        return found.message if isinstance(found, CallError) else ""

    def check(self) -> None:
        """Compile the arguments of every tool once. Raises Undecodable."""
        for index in range(len(self.trie.keys)):
            self._compile(index).exact()

    def _grammar(self, tool: Tool) -> Grammar:
        form = self.form
        inner = self._arguments(tool, form.arguments, bounds=self._bounds)
        parts = (Text(form.between), inner.start, Text(form.after), *((_ANYTHING,) if self.again else ()))
        return replace(inner, start=Sequence(parts))

    # Moves

    def walk(self, where: Where, data: bytes, at: int, step: int) -> Move | None:
        """Where `data` leads from a state that is not in arguments; None where it is not allowed.

        It begins at `at` of the text and is step `step`. A single token may pass through several states, and calls.
        """
        finished: list[Span] = []
        end = at + len(data)
        while True:
            match where:
                case InOpening(rest, left):
                    shared = min(len(rest), len(data))
                    if rest[:shared] != data[:shared]:
                        return None
                    where, data = (
                        (InOpening(rest[shared:], left) if shared < len(rest) else InText(0, left)),
                        data[shared:],
                    )
                    if not data:
                        return Move(where, None, ())
                case InText(progress, left):
                    seen = self.trigger[:progress] + data
                    found = seen.find(self.trigger) if self.trigger else -1
                    if found < 0:
                        return Move(InText(self._progress(seen), left), None, tuple(finished))
                    where, data = self.name_start, seen[found + len(self.trigger) :]
                case InName():
                    named = self._name(where, data)
                    if named is None or isinstance(named, InName):
                        return None if named is None else Move(named, None, tuple(finished))
                    index, fed = named
                    start = end - len(fed) + len(self.trie.between)
                    matcher, taken = self._choose(index, fed)
                    if taken == len(fed) and not (self.again and matcher.is_complete):
                        return Move(InArguments(index, start, fed, step), matcher, tuple(finished))
                    if not (self.again and matcher.is_complete):
                        return None
                    data = fed[taken:]
                    finished.append(Span(index, start, end - len(data)))
                    where = InText()
                case _:
                    raise AssertionError(where)

    def _progress(self, seen: bytes) -> int:
        """How much of the trigger's beginning stands at the end of `seen`."""
        for length in range(min(len(self.trigger) - 1, len(seen)), 0, -1):
            if seen.endswith(self.trigger[:length]):
                return length
        return 0

    def _name(self, where: InName, data: bytes) -> InName | tuple[int, bytes] | None:
        """The state after `data`, or the index of the tool that it chooses and what of it follows the name."""
        lead, place = where
        shared = min(len(lead), len(data))
        if lead[:shared] != data[:shared]:
            return None
        lead, data = lead[shared:], data[shared:]
        if not data:
            return InName(lead, place)
        after = self.trie.narrow(place, data)
        if after is None:
            index = self.trie.passed(place, data)
            if index is None:
                return None
            own = len(self.trie.keys[index]) - place.depth
            return index, self.trie.between + data[own:]
        key = self.trie.keys[after.low]
        name_end = len(key) - len(self.trie.between)
        if after.high - after.low > 1 or after.depth < name_end:
            return InName(lead, after)
        return after.low, key[name_end : after.depth]

    def _choose(self, index: int, fed: bytes) -> tuple[CallMatcher, int]:
        """The chosen tool's matcher, and how many bytes of `fed` it took: the allowed ones, up to the call's end."""
        matcher = self.matcher(index)
        between = len(self.trie.between)
        taken = matcher.feed(fed[:between])
        if taken == between:
            taken += self.take(matcher, fed[between:])
        return matcher, taken

    def take(self, matcher: CallMatcher, data: bytes) -> int:
        """Feed `data`, where text may follow a call only to the call's end; how many bytes were taken."""
        if not self.again:
            return matcher.feed(data)
        for taken, byte in enumerate(data):
            if matcher.is_complete:
                return taken
            if not matcher.feed(bytes((byte,))):
                return taken
        return len(data)

    # Masks

    def name_mask(self, where: InName, buffer: MaskBuffer) -> Mask:
        """The tokens that may come next before and within a name."""
        lead, place = where
        only_one = place.high - place.low == 1 and not lead  # most often; then a mask costs less than keeping it
        kept = None if only_one else self._name_masks.get(where)
        if kept is not None:
            return kept
        tokens, beyond = self.trie.steps(place, lead)
        if beyond:
            tokens += self._allowed_beyond(beyond)
        tokens = self.vocabulary.with_twins(tokens)
        if only_one:
            return buffer.write(tokens)
        if len(self._name_masks) >= _KEPT_MASKS:
            del self._name_masks[next(iter(self._name_masks))]
        mask = self._name_masks[where] = mask_of(tokens, self.vocabulary)
        return mask

    def _allowed_beyond(self, beyond: list[tuple[int, int, int]]) -> list[int]:
        """Of tokens that go on after a name and what follows it, those that do so as the tool's arguments may."""
        allowed = []
        for index, token, own in beyond:
            place = Place(index, index + 1, len(self.trie.keys[index]) - len(self.trie.between))
            data = self.trie.between + self.vocabulary.tokens[token][own:]
            if self.goes(InName(b"", place), data):
                allowed.append(token)
        return allowed

    def goes(self, where: Where, data: bytes) -> bool:
        """Whether `data` may come next."""
        return self.walk(where, data, 0, 0) is not None
