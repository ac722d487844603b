"""The general format: `{"tools": [{id, name, description}], "queries": [{id, query, gold}]}`, as ToolE's files are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from atc.retrieve.document import ToolDocument
from toolflow_bench.retrieval.data import (
    InvalidRetrievalData,
    RetrievalData,
    RetrievalQuery,
    assembled,
    first_text,
    read_json,
)
from toolflow_bench.retrieval.data_tools import read_tool

EXPECTED = (
    'a JSON file {"tools": [{"id": …, "description": …}, …], "queries": [{"id": …, "query": …, "gold": [id, …]}, …]}, '
    "or a folder with that in tools.json and queries.json"
)
_TOOLS = ("tools", "apis", "documents", "corpus", "functions")
_QUERIES = ("queries", "tasks", "questions", "examples", "data")
_TEXTS = ("query", "question", "text", "instruction", "task", "input")
_GOLDS = ("gold", "gold_tools", "gold_path", "relevant", "relevant_apis", "labels", "label", "answer", "tools", "tool")
_IDS = ("id", "query_id", "qid", "name")
_GOLD_IDS = ("id", "tool_id", "name", "tool", "api_name")
_GROUPS = ("group", "split", "subset")


def read_labelled(path: Path) -> RetrievalData:
    """The tools and queries of a file (or of a folder's tools.json and queries.json).

    Raises:
        InvalidRetrievalData: it cannot be read, or a tool or query lacks what it must have.
    """
    if path.is_dir():
        content = {key: read_json(path / f"{key}.json", expected=EXPECTED) for key in ("tools", "queries")}
    else:
        content = read_json(path, expected=EXPECTED)
    return labelled(content, name=path.stem, where=str(path))


def labelled(content: Any, *, name: str, where: str) -> RetrievalData:
    """The tools and queries of a JSON value in the general format; `where` names it in messages."""
    tools, queries = _part(content, _TOOLS), _part(content, _QUERIES)
    if tools is None:
        raise InvalidRetrievalData(f"{where}: there is no list of tools in it; give {EXPECTED}.")
    documents = list(_documents(tools, where))
    asked = [_query(row, number, where) for number, row in enumerate(queries or ())]
    return assembled(name, documents, asked)


def _part(content: Any, keys: Sequence[str]) -> Any:
    """The list (or mapping by id, as a list of records) under the first of `keys` that there is."""
    if not isinstance(content, Mapping):
        return None
    for key in keys:
        found = content.get(key)
        if isinstance(found, list):
            return found
        if isinstance(found, Mapping):
            inner = _part(found, keys)
            return inner if inner is not None else [_record(name, said) for name, said in found.items()]
    return None


def _record(name: str, said: Any) -> dict[str, Any]:
    return {"id": name, **said} if isinstance(said, Mapping) else {"id": name, "description": said}


def _documents(tools: Sequence[Any], where: str) -> Iterator[ToolDocument]:
    for number, record in enumerate(tools):
        document = read_tool(record) if isinstance(record, Mapping) else None
        if document is None or not document.name:
            raise InvalidRetrievalData(f"{where}: tool {number} has no 'id' or 'name'; give {EXPECTED}.")
        yield document


def _query(row: Any, number: int, where: str) -> RetrievalQuery:
    text = first_text(row, _TEXTS) if isinstance(row, Mapping) else ""
    if not text:
        raise InvalidRetrievalData(f"{where}: query {number} has no text in 'query'; give {EXPECTED}.")
    gold = next((found for key in _GOLDS if (found := _names(row.get(key)))), ())
    if not gold:
        raise InvalidRetrievalData(
            f"{where}: query {number} does not say in 'gold' which tools it takes; give {EXPECTED}."
        )
    return RetrievalQuery(id=first_text(row, _IDS) or str(number), text=text, gold=gold, group=first_text(row, _GROUPS))


def _names(value: Any) -> tuple[str, ...]:
    """Names of tools: one text, or a list of texts or of objects with an id."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if not isinstance(value, list):
        return ()
    found = [first_text(one, _GOLD_IDS) if isinstance(one, Mapping) else one for one in value]
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str) and name))
