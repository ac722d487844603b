"""The methods of query expansion, as a table.

| method | what the model writes | how it is searched | from |
|---|---|---|---|
| `hyde` | five hypothetical tools | the mean of their vectors and the query's | ToolQP, Table 5 |
| `hyde-1shot` | one hypothetical tool, shown one example | it replaces the query | Re-Invoke, §4.2, Figure 6 |
| `q2d` | five hypothetical tools | each behind the query, the mean of the five vectors | ToolQP, Table 5 |
| `q2e` | five search queries | each behind the query, the mean of the five vectors | ToolQP, Table 5 |
| `…-prf` | the same, shown what the query alone finds first | as above | ToolQP, Table 5 |

The papers do not say at which temperature they sample, nor how many tools a `-prf` prompt shows. Here several samples
are taken at 0.7, as in the paper of HyDE (Gao et al., 2023) and as Re-Invoke generates its queries; the single one of
`hyde-1shot` is greedy; five tools are shown, as ToolQP shows its planner. Over BM25 "the mean" is one bag of words:
`q2d` and `q2e` then count the query five times, as Query2doc does (Wang et al., 2023), `hyde` once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to expand a query; `dataclasses.replace` makes an ablation of it."""

    writes: Literal["tool", "search"]
    """A hypothetical tool, or a query as one would type it into a search for tools."""
    combine: Literal["mean", "append", "replace"]
    """The query beside what is written, before each of them, or not at all."""
    samples: int = 5
    temperature: float = 0.7
    feedback: int = 0
    """How many tools of a first pass by the query alone the model is shown."""
    example: bool = False
    """Whether a worked example comes first."""


METHODS: Mapping[str, Method] = {
    "hyde": Method(writes="tool", combine="mean"),
    "hyde-prf": Method(writes="tool", combine="mean", feedback=5),
    "hyde-1shot": Method(writes="tool", combine="replace", samples=1, temperature=0.0, example=True),
    "q2d": Method(writes="tool", combine="append"),
    "q2d-prf": Method(writes="tool", combine="append", feedback=5),
    "q2e": Method(writes="search", combine="append"),
    "q2e-prf": Method(writes="search", combine="append", feedback=5),
}
