"""What the teacher is told in which round (Figure 15): the goal, then ever more of the tools that it must find."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from atc.retrieve.base import Hit
from atc.retrieve.document import ToolDocument, json_text
from atc.retrieve.plan.steps import listing
from toolflow_bench.toolqp.names import Names
from toolflow_bench.toolqp.prompts import fill

Find = Callable[[str], Sequence[Hit]]
"""What a query finds, best first."""

_NAMING = frozenset({"name", "title"})


def definition(tool: ToolDocument, names: Names) -> dict[str, object]:
    """The document of a tool as the index has it, without what names the tool."""
    document: dict[str, object] = json.loads(json_text(tool))
    kept = {key: value for key, value in document.items() if key not in _NAMING}
    if tool.description:
        kept["description"] = names.hidden(tool.description, [tool.name])
    return kept


class Hints:
    """What is known in the rounds of one sub-task; `told(n)` is what round n, from 1, is told besides.

    Results in the later rounds are those of the last query that was tried (`tried`).
    """

    def __init__(
        self,
        goal: str,
        tools: Sequence[ToolDocument],
        *,
        plan: str,
        names: Names,
        find: Find,
        documents: Mapping[str, ToolDocument],
        shown: int,
    ) -> None:
        self._goal, self._tools, self._plan, self._names = goal, tools, plan, names
        self._find, self._documents, self._shown = find, documents, shown

    def told(self, number: int, tried: str) -> str:
        """What is added in round `number`; empty where there is nothing to add."""
        match number:
            case 1:
                return fill("hint_goal", goal=self._goal)
            case 2:
                about = [self._names.hidden(tool.description, [tool.name]) for tool in self._tools]
                return fill("hint_description", description="\n".join(filter(None, about))) if any(about) else ""
            case 3:
                return fill("hint_results", query=tried, found=self._results(tried)) if tried else ""
            case 4:
                with_plan = self._results(f"{tried} {self._plan}")
                return f"{self.told(3, tried)}\n\n{fill('hint_with_plan', found=with_plan)}" if tried else ""
            case _:
                documents = [json.dumps(definition(tool, self._names), ensure_ascii=False) for tool in self._tools]
                return fill("hint_document", document="\n".join(documents))

    def _results(self, query: str) -> str:
        return listing(self._find(query)[: self._shown], self._documents)
