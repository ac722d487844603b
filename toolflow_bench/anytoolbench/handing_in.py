"""A query that is handed in: read out of a call, and held to what a program can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy.acts import Mistake
from atc.retrieve.replies import one_text
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.anytoolbench.pool import ApiPool
from toolflow_bench.anytoolbench.rules import ApiNames, words
from toolflow_bench.anytoolbench.screening import screen
from toolflow_bench.anytoolbench.settings import Settings
from toolflow_bench.anytoolbench.solution import Made, Planned, Refusal, Written, made_again, unsupported


def read_written(arguments: JsonObject, find: Callable[[Json], str]) -> Written:
    """The query of a call of `finish`; `find` gives the name of an API of the pool, or raises.

    Raises:
        Mistake: something of it is missing, or is not what it should be.
    """
    query, answer = one_text(arguments.get("query")), one_text(arguments.get("answer"))
    solution = arguments.get("solution")
    if not query or not answer:
        raise Mistake("'query' and 'answer' must be texts that are not empty")
    if not isinstance(solution, list) or not solution or not all(isinstance(call, dict) for call in solution):
        raise Mistake('\'solution\' must be a list of calls: [{"api": …, "arguments": {…}}, …]')
    calls = []
    for call in solution:
        given = call.get("arguments", {})
        if not isinstance(given, dict):
            raise Mistake("the 'arguments' of each call must be an object")
        calls.append(Planned(find(call.get("api")), given))
    return Written(query, answer, tuple(calls))


class Gate:
    """Takes a query or says why not, without a model; `documents` are those whose names no query may have."""

    def __init__(self, documents: Iterable[ToolDocument]) -> None:
        self.names = ApiNames(documents)

    def checked(self, written: Written, pool: ApiPool, settings: Settings) -> tuple[Made, ...] | Refusal:
        """The calls of the solution, made again; or the first reason not to take the query."""
        if (count := words(written.query)) < settings.words:
            return Refusal("too short", f"the query has {count} words, and must have at least {settings.words}")
        if len(written.calls) > settings.calls:
            return Refusal("too many calls", f"{len(written.calls)} calls, and at most {settings.calls} may be made")
        if (refusal := self._categories(written, pool, settings)) is not None:
            return refusal
        if (screened := screen(written.query, None, names=self.names)).kind:
            return Refusal(screened.kind, screened.reason)
        made = made_again(written, pool)
        return made if isinstance(made, Refusal) else unsupported(written, made) or made

    def _categories(self, written: Written, pool: ApiPool, settings: Settings) -> Refusal | None:
        found = pool.categories(call.api for call in written.calls)
        if settings.least_categories <= len(found) <= settings.most_categories:
            return None
        wanted = f"{settings.least_categories} to {settings.most_categories} are wanted"
        taken = f"the calls take APIs of {len(found)} of the categories, {', '.join(found)}"
        return Refusal("categories", f"{taken}; {wanted}")
