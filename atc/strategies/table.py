"""Every strategy by name, what can be set of it, and how one is spelled: `chain`, `anytool:solver=cot,pool=16`.

The flags of a strategy are its own options and the settings of the configuration that change how it works, so that an
ablation is one word on the command line and stands in the rows of the bench.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from atc.flags import Flags, Kind, read_spec
from protocols.errors import AtcError

if TYPE_CHECKING:
    from atc.strategies.base import Parts, Strategy
    from atc.types import Solution


class UnknownStrategy(AtcError):
    """No strategy is called so, or it has no such flag."""


_DOCS: Mapping[str, Kind] = {"docs": ("full", "requests", "names")}
_SETTINGS: Mapping[str, Kind] = {"decoding": ("off", "calls", "auto"), **_DOCS}
"""Settings that change how strategies of single calls work; `docs=requests` leaves responses out of the prompt."""
_PROGRAMS: Mapping[str, Kind] = {
    **_DOCS,
    "repair": ("facts", "reflection", "traceback", "none"),
    "samples": int,
    "max_repairs": int,
}
"""Those of strategies that write whole programs."""
_ANYTOOL: Mapping[str, Kind] = {
    "solver": ("dfsdt", "cot"),
    "woken": ("tool", "category", "meta"),
    "flat": bool,
    **dict.fromkeys(("rounds", "pool", "tools_per_agent", "apis", "steps", "threads", "calls", "votes", "tokens"), int),
}
"""The fields of `atc.strategies.anytool_options.Options`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One strategy: `solve` of `module`, called with `given`; `settings` and `options` are its flags."""

    name: str
    summary: str
    module: str
    given: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Kind] = field(default_factory=lambda: _SETTINGS)
    options: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def flags(self) -> Mapping[str, Kind]:
        """What can be set of it."""
        return {**self.settings, **self.options}

    @property
    def writes_programs(self) -> bool:
        """Whether it begins with a program, not with a call."""
        return self.settings is _PROGRAMS


def _entry(name: str, summary: str, **more: Any) -> Entry:
    module, _, tries = name.partition("@")
    return Entry(name=name, summary=summary, module=module, given={"tries": int(tries)} if tries else {}, **more)


STRATEGIES: Mapping[str, Entry] = {
    entry.name: entry
    for entry in (
        _entry("auto", "chain, or stepwise where what is known speaks for it", settings=_PROGRAMS),
        _entry("chain", "one program, checked, executed, and repaired from facts (ATC)", settings=_PROGRAMS),
        _entry("stepwise", "a program that grows, with its output so far in view", settings=_PROGRAMS),
        _entry("react", "a thought, one call, what it gave, and again"),
        _entry("react@3", "the same, begun anew up to three times"),
        _entry("dfsdt", "the same turns as a depth-first search (ToolLLM)"),
        _entry("dfsdt@3", "the same, begun anew up to three times"),
        _entry("codeact", "blocks of Python, one a turn, with their outputs in view", settings=_DOCS),
        _entry("restgpt", "a planner in words, a selector, a caller and a parser"),
        _entry("conagents", "grounding, execution and review agents"),
        _entry("anytool", "agents find tools, a solver tries, and failures wake the agents", options=_ANYTOOL),
    )
}
"""In the order in which they are told."""


def read(spec: str) -> tuple[Entry, Flags]:
    """The strategy and the flags of a spec.

    Raises:
        UnknownStrategy: no such strategy or flag, or a value that the flag does not take.
    """
    try:
        return read_spec(spec, STRATEGIES, what="strategy")
    except ValueError as error:
        raise UnknownStrategy(str(error)) from error


def strategy(spec: str) -> Strategy:
    """The strategy that `spec` spells, imported when it is asked for.

    Raises:
        UnknownStrategy: as `read`; or a value that is out of range.
    """
    entry, flags = read(spec)
    solve: Strategy = import_module(f"atc.strategies.{entry.module}").solve
    given = dict(entry.given)
    if own := {key: value for key, value in flags.items() if key in entry.options}:
        from atc.strategies.anytool_options import Options

        try:
            given["options"] = Options(**own)
        except ValueError as error:
            raise UnknownStrategy(f"the strategy {spec!r}: {error}.") from error
    if given:
        solve = partial(solve, **given)
    settings = {key: value for key, value in flags.items() if key in entry.settings}
    return partial(_with_settings, solve, settings) if settings else solve


def _with_settings(solve: Strategy, settings: Mapping[str, Any], task: str, parts: Parts) -> Solution:
    return solve(task, replace(parts, config=replace(parts.config, **settings)))
