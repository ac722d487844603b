"""Registry of strategies and their options, and the parser of specs, which choose a strategy.

An example of a spec is `anytool:solver=cot,pool=16`: a strategy with two flags. The flags of a
strategy are its own options and the settings that affect it. So an ablation can be written as one
word on the command line, and it appears in the rows of a benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, get_type_hints

from atc.core.config import Config
from atc.core.events import NoteAdded
from atc.core.specs import Flags, Kinds, read_spec
from protocols.errors import AtcError, PromptTooLong

if TYPE_CHECKING:  # parsing a spec must not import these modules
    from atc.core.types import Solution
    from atc.run.strategy_run import Parts, Solve


_SMALLER = 0.5
"""Factor for the tokens of tool descriptions if a prompt did not fit into the model's context."""
_LEAST_PROMPT_TOKENS = 500


class UnknownStrategy(AtcError):
    """There is no such strategy or flag, or the flag does not accept the value."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to solve a task. Its modules are imported when it is used.

    `solver` names a function in the form `module:function`. The function is called with the task,
    the `Parts` of the run and the arguments in `keywords`, and returns a `Solution`. The flags of
    the strategy are the settings in `settings` and the fields of the dataclass that `options`
    names.
    """

    name: str
    summary: str
    solver: str
    settings: tuple[str, ...]
    writes_programs: bool = False
    """True if the strategy starts with a program, not with a single call."""
    options: str | None = None
    keywords: Mapping[str, int] = field(default_factory=dict)

    @property
    def flags(self) -> Kinds:
        """The types of the strategy's flags, keyed by the flag's name."""
        kinds = get_type_hints(Config, include_extras=True)
        own = {} if self.options is None else get_type_hints(self.load_options())
        own.pop("prompt_tokens", None)
        return {name: kinds[name] for name in self.settings} | own

    def load_options(self) -> Callable[..., object]:
        """Import and return the dataclass of the strategy's own options."""
        assert self.options is not None
        options: Callable[..., object] = resolve_name(self.options)
        return options

    def load_solver(self) -> Callable[..., Solution]:
        """Import and return the function that solves a task."""
        solver: Callable[..., Solution] = resolve_name(self.solver)
        return solver


OF_CALLS = ("decoding", "docs")
"""Settings that affect strategies of single calls.

`docs=requests` leaves response types out of the prompt, `docs=compact` describes each tool in one
line.
"""
OF_BLOCKS = ("docs",)
OF_PROGRAMS = ("docs", "repair", "samples", "max_repairs")
"""Settings that affect strategies that write whole programs."""
_REACT = "atc.strategies.react:solve"
_DFSDT = "atc.strategies.dfsdt:solve"

_ALL = (
    Strategy(
        "auto",
        "chain, or stepwise where what is known speaks for it",
        "atc.strategies.auto:solve",
        OF_PROGRAMS,
        writes_programs=True,
    ),
    Strategy(
        "chain",
        "one program, checked, executed, and repaired from facts (ATC)",
        "atc.strategies.chain:solve",
        OF_PROGRAMS,
        writes_programs=True,
    ),
    Strategy(
        "stepwise",
        "a program that grows, with its output so far in view",
        "atc.strategies.stepwise:solve",
        OF_PROGRAMS,
        writes_programs=True,
    ),
    Strategy("react", "a thought, one call, what it gave, and again", _REACT, OF_CALLS),
    Strategy(
        "react@3",
        "the same, begun anew up to three times",
        _REACT,
        OF_CALLS,
        keywords={"tries": 3},
    ),
    Strategy("dfsdt", "the same turns as a depth-first search (ToolLLM)", _DFSDT, OF_CALLS),
    Strategy(
        "dfsdt@3",
        "the same, begun anew up to three times",
        _DFSDT,
        OF_CALLS,
        keywords={"tries": 3},
    ),
    Strategy(
        "codeact",
        "blocks of Python, one a turn, with their outputs in view",
        "atc.strategies.codeact:solve",
        OF_BLOCKS,
    ),
    Strategy(
        "restgpt",
        "a planner in words, a selector, a caller and a parser",
        "atc.strategies.restgpt:solve",
        OF_CALLS,
    ),
    Strategy(
        "conagents",
        "grounding, execution and review agents",
        "atc.strategies.conagents:solve",
        OF_CALLS,
    ),
    Strategy(
        "anytool",
        "agents find tools, a solver tries, and failures wake the agents",
        "atc.strategies.anytool:solve",
        OF_CALLS,
        options="atc.strategies.anytool:Options",
    ),
)
STRATEGIES: Mapping[str, Strategy] = {one.name: one for one in _ALL}
"""All strategies, keyed by name, in display order."""


def parse_spec(spec: str) -> tuple[Strategy, Flags]:
    """Return the strategy and the flags in a spec.

    Raises:
        UnknownStrategy: no such strategy or flag, or a value that the flag does not accept.
    """
    try:
        return read_spec(spec, STRATEGIES, what="strategy")
    except ValueError as error:
        raise UnknownStrategy(str(error)) from error


def strategy(spec: str) -> Solve:
    """Return the function that solves a task with the strategy and flags of `spec`.

    The strategy's module is imported here.

    Raises:
        UnknownStrategy: see `parse_spec`; or the value of a flag is out of range.
    """
    chosen, flags = parse_spec(spec)
    settings = {name: value for name, value in flags.items() if name in chosen.settings}
    keywords: dict[str, Any] = dict(chosen.keywords)
    if own := {name: value for name, value in flags.items() if name not in settings}:
        try:
            keywords["options"] = chosen.load_options()(**own)
        except ValueError as error:
            raise UnknownStrategy(f"the strategy {spec!r}: {error}.") from error
    solver = chosen.load_solver()

    def solve(task: str, parts: Parts) -> Solution:
        own = replace(parts, config=replace(parts.config, **settings))
        try:
            return solver(task, own, **keywords)
        except PromptTooLong as error:
            if parts.journal.completed_calls():
                raise
            smaller, note = _with_smaller_prompt(own, error)
        parts.observer(NoteAdded(note))
        solution = solver(task, smaller, **keywords)
        return replace(solution, notes=(note, *solution.notes))

    return solve


def _with_smaller_prompt(parts: Parts, error: PromptTooLong) -> tuple[Parts, str]:
    """Return the parts of a run whose prompts describe the tools more briefly, and a note on this.

    The tools get at most half of the tokens that they had, and less if the model's endpoint says
    that less fits into its context.
    """
    before = parts.prompt_tokens
    budget = max(_LEAST_PROMPT_TOKENS, int(before * _SMALLER * (error.share or 1.0)))
    note = (
        "The prompt did not fit into the model's context, so the tools are described in at most"
        f" {budget:,} tokens instead of {before:,}. The setting prompt_tokens = {budget} saves the"
        " request that was refused."
    )
    return replace(parts, config=replace(parts.config, prompt_tokens=budget)), note
