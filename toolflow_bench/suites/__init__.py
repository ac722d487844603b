"""The suites that `atc bench` knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from protocols.errors import AtcError
from toolflow_bench.suites.flights import load as load_flights
from toolflow_bench.task import Question

__all__ = ["SUITES", "SUMMARIES", "Suite", "UnknownSuite", "find_suite"]


class UnknownSuite(AtcError):
    """No suite of this name; the message names those that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A set of questions and the tools that they are asked with."""

    name: str
    summary: str
    load: Callable[[Path | None], tuple[Question, ...]]
    """Takes the file of its questions (None: where they usually are). Raises `InvalidTask` where it cannot be read."""
    tools: tuple[str, ...] = ()
    """Tool sources; none: the built-in flights service."""


SUITES: Mapping[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            name="flights",
            summary="24 questions of travellers and analysts about the flights that left New York in 2013",
            load=load_flights,
        ),
    )
}

SUMMARIES: Mapping[str, str] = {name: suite.summary for name, suite in SUITES.items()} | {
    "toolflow": "tasks of several calls over four services on real data, long and short",
    "restbench": "TMDB's 100 and Spotify's 57 tasks against mocks; paths are judged, answers are not",
    "repair": "faulty first programs, and short tasks from nothing: what each way of repair is worth",
    "blame": "gold programs and services broken one at a time: whether attribution names the call and the path",
    "kills": "writing runs whose host is killed, and resumed: no write twice, none lost",
    "injection": "hostile tool output and descriptions against the gate, and how often it asks needlessly",
    "retrieval": "queries with the tools that they need: what each method of search finds, and at what cost",
    "decoding": "calls and programs written freely and under constraints: errors, accuracy, tokens, seconds",
    "probing": "tools of which little more than names is known, probed, and held against the truth",
    "sandbox": "hostile and ordinary programs, latency and a soak of every sandbox",
}
"""What can be measured. From `blame` on no model is needed, but for some methods of `retrieval` and most
suites of `decoding`."""


def find_suite(name: str) -> Suite:
    """The suite of this name.

    Raises:
        UnknownSuite: there is none.
    """
    if name in SUITES:
        return SUITES[name]
    near = get_close_matches(name, SUMMARIES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(SUMMARIES)}."
    raise UnknownSuite(f"no suite named {name!r}; {hint}")
