"""The filter of A.7: queries that cannot be solved as they stand, name an API, or cannot be judged, go out.

The paper's authors read the queries themselves; here rules go first, and a model reads what passes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from protocols.ask import Ask
from toolflow_bench.anytoolbench.prompts import fill
from toolflow_bench.anytoolbench.rules import ApiNames, Kind, flaws
from toolflow_bench.anytoolbench.verdicts import verdict
from toolflow_bench.retrieval.data import RetrievalQuery

KINDS: tuple[Kind, ...] = ("missing information", "fake parameters", "names an API", "unreasonable")
_KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Screened:
    """Why a query goes out, and what says so; all empty where it stays. *ungraded*: the verdict could not be read."""

    kind: Kind | Literal["", "ungraded"] = ""
    reason: str = ""
    by: Literal["", "rule", "model"] = ""


def screen(query: str, ask: Ask | None, *, names: ApiNames | None = None) -> Screened:
    """Whether a query stays: by the rules, then by the model, where one is given.

    Raises:
        ModelUnavailable: the model did not answer.
    """
    if found := flaws(query, names):
        return Screened(found[0].kind, "; ".join(flaw.reason for flaw in found if flaw.kind == found[0].kind), "rule")
    if ask is None:
        return Screened()
    said = verdict(ask, fill("filter"), fill("filter_task", query=query), (*KINDS, _KEEP))
    if said.word == _KEEP:
        return Screened()
    kind = next((kind for kind in KINDS if kind == said.word), None)
    return Screened(kind, said.reason, "model") if kind else Screened("ungraded", said.reason, "model")


def filtered(
    queries: Iterable[RetrievalQuery], ask: Ask | None, *, names: ApiNames | None = None
) -> tuple[list[RetrievalQuery], dict[str, Screened]]:
    """The queries that stay, in their order, and why each of the others goes, by its id.

    Raises:
        ModelUnavailable: the model did not answer.
    """
    kept: list[RetrievalQuery] = []
    gone: dict[str, Screened] = {}
    for query in queries:
        screened = screen(query.text, ask, names=names)
        if screened.kind:
            gone[query.id] = screened
        else:
            kept.append(query)
    return kept, gone
