"""StableToolBench: RapidAPI's endpoints (category → tool → API) and the queries of ToolBench over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.retrieve.document import ToolDocument
from toolflow_bench.retrieval.data import InvalidRetrievalData, RetrievalData, assembled, first_text, read_json
from toolflow_bench.retrieval.data_labelled import labelled
from toolflow_bench.retrieval.data_tools import read_tool

APIS = "apis.json"
_EXPECTED = "StableToolBench's folder: apis.json with queries_g1.json beside it"


def is_stabletoolbench(path: Path) -> bool:
    """Whether `path` is a folder with an apis.json, that file, or a file of queries beside it."""
    beside = path.is_file() and path.name.startswith("queries") and (path.parent / APIS).is_file()
    return (path / APIS).is_file() or path.name == APIS or beside


def read_stabletoolbench(path: Path) -> RetrievalData:
    """The APIs of a folder (or of its apis.json), and the queries of every queries*.json beside them, or of one.

    A document is named `tool/API`: an API's own name (`Health`, `Search`) says little, and many share it. The category
    stands apart. Response templates give the names of returned fields.

    Raises:
        InvalidRetrievalData: a file is missing or not what it should be.
    """
    folder = path if path.is_dir() else path.parent
    records = read_json(folder / APIS, expected=_EXPECTED)
    if not isinstance(records, list) or not all(isinstance(record, Mapping) for record in records):
        raise InvalidRetrievalData(f"{str(folder / APIS)!r} must be a list of objects; give {_EXPECTED}.")
    names = dict(_named(records))
    documents = [_document(record, name) for record, name in zip(records, names.values(), strict=True)]
    files = [path] if path.is_file() and path.name != APIS else sorted(folder.glob("queries*.json"))
    found = [labelled(_general(file, names), name=file.stem, where=str(file)) for file in files]
    asked = [replace(query, group=query.group or one.name) for one in found for query in one.queries]
    notes = () if files else (f"There is no queries*.json in {str(folder)!r}: tools only.",)
    return assembled("stabletoolbench", documents, asked, notes=(*notes, *(n for one in found for n in one.notes)))


def _named(records: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each record's id with the name of its document, `tool/API`; what would be the second of a name keeps its id."""
    taken: set[str] = set()
    for record in records:
        parts = [first_text(record, [key]) for key in ("tool_name", "api_name")]
        own = first_text(record, ["id"]) or "/".join([first_text(record, ["category_name"]), *parts])
        name = "/".join(parts)
        name = own if name in taken or not all(parts) else name
        taken.add(name)
        yield own, name


def _document(record: Mapping[str, Any], name: str) -> ToolDocument:
    return replace(read_tool(record, name=name), title="")  # the API's name stands in the document's


def _general(file: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """A file of queries in the general format, gold tools by their documents' names."""
    rows = read_json(file, expected=_EXPECTED)
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidRetrievalData(f"{str(file)!r} must be a list of queries; give {_EXPECTED}.")
    queries = [{**row, "gold": _gold(row, names)} for row in rows]
    return {"tools": [{"id": name} for name in names.values()], "queries": queries}


def _gold(row: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """The gold APIs: ids, or ToolBench's pairs of tool and API."""
    named = set(names.values())
    gold = row.get("gold") or row.get("relevant_apis") or row.get("relevant APIs") or []
    found = []
    for one in gold if isinstance(gold, list) else [gold]:
        text = "/".join(map(str, one)) if isinstance(one, list) else str(one)
        found.append(text if text in named else names.get(text, text))
    return found
