"""RestBench: the operations of TMDB and Spotify in one index, and the tasks with their gold paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolflow_bench.restbench.data import pattern
from toolflow_bench.retrieval.data import InvalidRetrievalData, RetrievalData, assembled, read_json
from toolflow_bench.retrieval.data_labelled import labelled

_TOOLS, _TASKS = "_tools.json", "_tasks.json"
_EXPECTED = f"RestBench's folder: for each API NAME{_TOOLS} and NAME{_TASKS} (tmdb, spotify)"


def is_restbench(path: Path) -> bool:
    """Whether `path` is a folder with tasks and tools of some API, or one of these files."""
    return bool(_apis(path))


def read_restbench(path: Path) -> RetrievalData:
    """The operations of all APIs in a folder, named as gold paths name them (`GET /movie/{movie_id}`), and the tasks.

    Of one file the operations and tasks of its API.

    A step of a gold path is found whatever its path parameters are called. The order of the steps is not looked at.

    Raises:
        InvalidRetrievalData: a file is missing or not what it should be.
    """
    parts = [_read(path if path.is_dir() else path.parent, api) for api in _apis(path)]
    return assembled(
        "restbench",
        [replace(document, collection=part.name) for part in parts for document in part.documents],
        [replace(query, group=part.name) for part in parts for query in part.queries],
        notes=[note for part in parts for note in part.notes],
    )


def _apis(path: Path) -> list[str]:
    folder = path if path.is_dir() else path.parent
    found = sorted(file.name.removesuffix(_TASKS) for file in folder.glob(f"*{_TASKS}"))
    whole = [api for api in found if (folder / f"{api}{_TOOLS}").is_file()]
    return whole if path.is_dir() else [api for api in whole if path.name in (f"{api}{_TOOLS}", f"{api}{_TASKS}")]


def _read(folder: Path, api: str) -> RetrievalData:
    tools = _records(folder / f"{api}{_TOOLS}")
    names = {pattern(str(tool.get("id", ""))): tool.get("id") for tool in tools}
    tasks = [
        {**task, "gold": [names.get(pattern(str(step)), step) for step in task.get("gold_path") or ()]}
        for task in _records(folder / f"{api}{_TASKS}")
    ]
    return labelled({"tools": tools, "queries": tasks}, name=api, where=str(folder / f"{api}{_TASKS}"))


def _records(path: Path) -> list[Mapping[str, Any]]:
    found = read_json(path, expected=_EXPECTED)
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise InvalidRetrievalData(f"{str(path)!r} must be a list of objects; give {_EXPECTED}.")
    return found
