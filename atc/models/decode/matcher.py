"""Computes which tokens may come next in a tool call, for models whose logits are accessible.

This is the state machine of ToolDec's paper, based on llguidance. A tokenizer must be an llguidance
`LLTokenizer`. `llguidance.hf.from_tokenizer`, `llguidance.tiktoken.lltokenizer_from_encoding` and
`llguidance.llamacpp.lltokenizer_from_vocab` convert the tokenizers of other libraries.
"""

from __future__ import annotations

import sys
from typing import Any

from atc.models.decode.bound_schema import BOUNDS, Bounds
from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import JSON_CALL, CallFormat
from atc.models.decode.grammar import (
    Lead,
    arguments_grammar,
    call_grammar,
    compile_matcher,
    names_grammar,
    require_sound,
    text_grammar,
)
from atc.models.decode.schema import INSTALL
from protocols.toolbox import Toolbox

try:
    import numpy as np
    from llguidance import LLMatcher, LLTokenizer
except ImportError as missing:
    raise Undecodable(
        f"grammars need {missing.name!r}, which is not installed.", hint=INSTALL
    ) from missing

ONE_GRAMMAR_TOOLS = 256
"""Up to this many tools, one grammar describes the calls of all tools. With more, a call is decoded
in two stages: first the name, then the arguments.
"""


class ToolMatcher:
    """Computes which tokens may come next in a reply that consists of calls of `tools`.

    The reply is written token by token, in the call format `form`. If the format has a trigger (the
    text that begins a call), other text may surround the calls. `lead` describes the text before
    the call, see `grammar.lead_of`. Up to `one_grammar` tools share one grammar. If there are more,
    a grammar of all names is followed by a grammar of the chosen tool's arguments. A token that
    spans the boundary between the two is then not allowed.

    Raises:
        Undecodable: there are no tools, or no value fits a required argument. With two grammars,
            the latter is raised only when the tool is chosen.
    """

    def __init__(
        self,
        tools: Toolbox,
        tokenizer: LLTokenizer,
        form: CallFormat = JSON_CALL,
        *,
        lead: Lead | None = None,
        bounds: Bounds = BOUNDS,
        one_grammar: int = ONE_GRAMMAR_TOOLS,
    ) -> None:
        self._tools = tools
        self.tokenizer = tokenizer
        self._form = form
        self._bounds = bounds
        self._amid_text = bool(form.trigger) and lead is None
        self._staged = len(tools) > one_grammar
        if self._staged:
            first = names_grammar(tools, form, lead, text=self._amid_text)
        elif self._amid_text:
            first = text_grammar(tools, form, bounds)
        else:
            first = call_grammar(tools, form, lead, bounds)
        self._first = compile_matcher(tokenizer, first.text)
        self._ends = frozenset(tokenizer.eos_tokens)
        self._calls: dict[str, LLMatcher] = {}
        self._words = np.zeros(-(-tokenizer.vocab_size // 32), dtype=np.uint32)
        self._restart()

    def _restart(self) -> None:
        self.tokens: list[int] = []
        self.is_finished = False
        self._stages: list[tuple[LLMatcher, int, str]] = [(self._first.deep_copy(), 0, "")]
        """The matchers used so far. Each comes with the number of tokens before it, and the name of
        the tool whose arguments it matches ("" if it does not match arguments).
        """

    def fresh(self) -> ToolMatcher:
        """Return a matcher for a new reply, which shares the compiled grammars of this one."""
        other = object.__new__(ToolMatcher)
        vars(other).update(vars(self))
        other._words = np.zeros_like(self._words)
        other._restart()
        return other

    def mask(self) -> np.typing.NDArray[np.uint32]:
        """Return a bit set of the tokens that may come next.

        Each token has one bit. The bits are in 32-bit words, beginning with the lowest bit of the
        first word. The next call of this method overwrites the returned array.
        """
        matcher = self._stages[-1][0]
        matcher.unsafe_compute_mask_ptr(self._words.ctypes.data, self._words.nbytes)
        if matcher.is_error():
            require_sound(matcher)
        return self._words

    def allowed_mask(self) -> np.typing.NDArray[np.bool_]:
        """Return the tokens that may come next as an array with one boolean for each token.

        `mask` returns the same information as bits.
        """
        bits = np.unpackbits(
            self.mask().view(np.uint8), count=self.tokenizer.vocab_size, bitorder="little"
        )
        return bits.view(np.bool_)

    def advance(self, token: int) -> None:
        """Accept `token` as the next token.

        Raises:
            ValueError: the token is not allowed. Nothing is changed.
            Undecodable: the token completes the name of a tool to which no arguments can be given.
        """
        matcher = self._stages[-1][0]
        if token in self._ends and self.is_complete and not self.is_finished:
            self.is_finished = True
        elif self.is_finished or matcher.try_consume_tokens([token]) != 1:
            raise ValueError(f"the token {token} may not come next.")
        self.tokens.append(token)
        if self._staged and not self.is_finished and matcher.is_accepting():
            self._next_stage()

    def _next_stage(self) -> None:
        matcher, start, tool = self._stages[-1]
        if tool and not matcher.is_stopped():
            return
        if tool:
            if self._amid_text:
                self._stages.append((self._first.deep_copy(), len(self.tokens), ""))
            return
        name = self._name_in(
            self.tokenizer.decode_bytes(self.tokens[start:]).decode(errors="replace")
        )
        if name in self._tools:
            if name not in self._calls:
                grammar = arguments_grammar(self._tools[name], self._form, self._bounds)
                self._calls[name] = compile_matcher(self.tokenizer, grammar.text)
            self._stages.append((self._calls[name].deep_copy(), len(self.tokens), name))

    def _name_in(self, text: str) -> str:
        """Return the tool name at the end of a text that stops before the tool's arguments.

        Return "" if the text does not stop there.
        """
        form = self._form
        if not text.endswith(form.between):
            return ""
        head = text.removesuffix(form.between)
        if self._amid_text and form.trigger not in head:
            return ""
        before = form.trigger + form.before
        return head.rpartition(before)[2] if before else head

    @property
    def is_complete(self) -> bool:
        """True if the reply may end after the tokens that were accepted so far."""
        matcher, _, tool = self._stages[-1]
        return matcher.is_accepting() and (bool(tool) or not self._staged or self._amid_text)

    @property
    def text(self) -> str:
        """The text of the tokens that were accepted so far."""
        kept = [token for token in self.tokens if token not in self._ends]
        return self.tokenizer.decode_bytes(kept).decode(errors="replace")


def sample(scores: Any, allowed: Any, *, temperature: float = 1.0, rng: Any = None) -> int:
    """Draw one of the allowed tokens (section 3.1 of ToolDec's paper).

    `scores` and `allowed` have one entry for each token. The probabilities are the softmax of the
    scores of the allowed tokens. At temperature 0, the token with the highest score is returned.
    Otherwise `rng`, a `numpy.random.Generator`, must be given.

    Raises:
        ValueError: no token is allowed.
    """
    tokens = np.flatnonzero(allowed[: scores.shape[-1]])
    if not len(tokens):
        raise ValueError("the mask allows no token.")
    kept = np.nan_to_num(np.asarray(scores, dtype=np.float64)[tokens], nan=-np.inf)
    # The maximum of scores with Gumbel noise is a sample of their softmax, without overflow.
    if temperature > 0:
        kept = kept / temperature + rng.gumbel(size=len(tokens))
    return int(tokens[np.argmax(kept)])


class ToolLogits:
    """A logits processor, which sets the scores of tokens that are not allowed to -inf.

    It is called with `input_ids` of the shape (rows, tokens so far) and `scores` of the shape
    (rows, size of the vocabulary). Both are numpy arrays, or torch tensors as `transformers` passes
    them. `prompt_tokens` is the number of tokens in a row that belong to the prompt. If it is None,
    these are the tokens of the first call. Create a new processor for each generation. A generation
    may have several rows or beams.
    """

    def __init__(self, matcher: ToolMatcher, *, prompt_tokens: int | None = None) -> None:
        self._start = matcher.fresh()
        self._prompt_tokens = prompt_tokens
        self._rows: list[ToolMatcher] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, with -inf for each token that is not allowed next.

        Raises:
            ValueError: a row holds a token that was not allowed.
        """
        ids = np.asarray(input_ids.cpu() if hasattr(input_ids, "cpu") else input_ids)
        if self._prompt_tokens is None:
            self._prompt_tokens = ids.shape[1]
        self._rows = [
            self._matcher_after(row[self._prompt_tokens :].tolist(), place)
            for place, row in enumerate(ids)
        ]
        refused = np.ones(scores.shape, dtype=np.bool_)
        for place, matcher in enumerate(self._rows):
            allowed = matcher.allowed_mask()[: scores.shape[1]]
            refused[place, : len(allowed)] = ~allowed
            if matcher.is_finished:
                refused[place, list(matcher.tokenizer.eos_tokens)] = False
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(scores, torch.Tensor):
            return scores.masked_fill(torch.from_numpy(refused).to(scores.device), float("-inf"))
        return np.where(refused, -np.inf, scores).astype(scores.dtype, copy=False)

    def _matcher_after(self, tokens: list[int], place: int) -> ToolMatcher:
        """Return a matcher that has accepted `tokens`, the reply in the row `place` so far.

        The row's last matcher is continued if it has accepted the beginning of `tokens`. If it has
        accepted other tokens, which happens in beam search, a new matcher reads all of them.
        """
        own = self._rows[place] if place < len(self._rows) else None
        if own is None or tokens[: len(own.tokens)] != own.tokens:
            own = self._start.fresh()
        for token in tokens[len(own.tokens) :]:
            # The remaining tokens are padding.
            if own.is_finished:
                break
            own.advance(token)
        return own
