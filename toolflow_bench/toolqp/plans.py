"""The plans that a data set may have (ToolRet's instructions), by the ids of its queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolflow_bench.retrieval.data import first_text, read_json
from toolflow_bench.retrieval.data_labelled import EXPECTED

_PLANS = ("plan", "instruction", "task_breakdown")


def read_plans(path: Path) -> dict[str, str]:
    """The plan of each query of a JSON file of tools and queries that has one besides its text.

    Raises:
        InvalidRetrievalData: the file cannot be read, or is not JSON.
    """
    if path.is_dir():
        return {}
    content = read_json(path, expected=EXPECTED)
    queries = content.get("queries") if isinstance(content, Mapping) else None
    rows = [row for row in queries if isinstance(row, Mapping)] if isinstance(queries, list) else []
    found = {first_text(row, ("id",)): first_text(row, _PLANS) for row in rows if first_text(row, ("query",))}
    return {key: plan for key, plan in found.items() if key and plan}
