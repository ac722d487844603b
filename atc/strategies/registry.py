"""Registry of strategies by name, their options, and the parser of specs such as
`anytool:solver=cot,pool=16`.

The flags of a strategy are its own options and the configuration settings that affect it, so that
an ablation can be written in one word on the command line and appears in the rows of a benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

from atc.core.config import Config
from atc.core.specs import Flags, Kinds, read_spec
from protocols.errors import AtcError

if TYPE_CHECKING:  # parsing a spec must not import these modules
    from atc.core.types import Solution
    from atc.run.strategy_run import Parts, Strategy


class UnknownStrategy(AtcError):
    """There is no strategy of this name, or it does not have this flag."""


_CALLS = ("decoding", "docs")
_BLOCKS = ("docs",)
"""Settings that affect strategies of single calls; `docs=requests` leaves response types out of the
prompt.
"""
_PROGRAMS = ("docs", "repair", "samples", "max_repairs")
"""Settings that affect strategies that write whole programs."""
_WITH_OPTIONS = ("anytool",)


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy: `solve` of its module. Its flags are `settings` and the fields of the module's
    `Options`.
    """

    name: str
    summary: str
    settings: Sequence[str]

    @property
    def writes_programs(self) -> bool:
        """True if the strategy starts with a program, not with a single call."""
        return self.settings is _PROGRAMS

    @property
    def flags(self) -> Kinds:
        """The flags of the strategy with their types."""
        own = get_type_hints(self.load().Options) if self.name in _WITH_OPTIONS else {}
        own.pop("prompt_tokens", None)
        kinds = get_type_hints(Config, include_extras=True)
        return {name: kinds[name] for name in self.settings} | own

    def load(self) -> Any:
        """Import and return its module."""
        return import_module(f"atc.strategies.{self.name.partition('@')[0]}")


_ENTRIES = (
    Entry("auto", "chain, or stepwise where what is known speaks for it", _PROGRAMS),
    Entry("chain", "one program, checked, executed, and repaired from facts (ATC)", _PROGRAMS),
    Entry("stepwise", "a program that grows, with its output so far in view", _PROGRAMS),
    Entry("react", "a thought, one call, what it gave, and again", _CALLS),
    Entry("react@3", "the same, begun anew up to three times", _CALLS),
    Entry("dfsdt", "the same turns as a depth-first search (ToolLLM)", _CALLS),
    Entry("dfsdt@3", "the same, begun anew up to three times", _CALLS),
    Entry("codeact", "blocks of Python, one a turn, with their outputs in view", _BLOCKS),
    Entry("restgpt", "a planner in words, a selector, a caller and a parser", _CALLS),
    Entry("conagents", "grounding, execution and review agents", _CALLS),
    Entry("anytool", "agents find tools, a solver tries, and failures wake the agents", _CALLS),
)
STRATEGIES: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""All strategies in display order."""


def parse_spec(spec: str) -> tuple[Entry, Flags]:
    """Return the strategy and the flags in a spec.

    Raises:
        UnknownStrategy: no such strategy or flag, or a value that the flag does not accept.
    """
    try:
        return read_spec(spec, STRATEGIES, what="strategy")
    except ValueError as error:
        raise UnknownStrategy(str(error)) from error


def strategy(spec: str) -> Strategy:
    """Return the strategy for `spec`. Its module is imported here.

    Raises:
        UnknownStrategy: as `parse_spec`; or a value that is out of range.
    """
    entry, flags = parse_spec(spec)
    module = entry.load()
    tries = entry.name.partition("@")[2]
    own: dict[str, Any] = {"tries": int(tries)} if tries else {}
    settings = {key: value for key, value in flags.items() if key in entry.settings}
    if chosen := {key: value for key, value in flags.items() if key not in settings}:
        try:
            own = {"options": module.Options(**chosen)}
        except ValueError as error:
            raise UnknownStrategy(f"the strategy {spec!r}: {error}.") from error

    def solve(task: str, parts: Parts) -> Solution:
        solution: Solution = module.solve(
            task, replace(parts, config=replace(parts.config, **settings)), **own
        )
        return solution

    return solve
