"""Reads a data set, whichever of the known kinds it is."""

from __future__ import annotations

from pathlib import Path

from toolflow_bench.retrieval.data import InvalidRetrievalData, RetrievalData, read_json
from toolflow_bench.retrieval.data_labelled import EXPECTED, labelled, read_labelled
from toolflow_bench.retrieval.data_livemcp import is_livemcp, livemcp
from toolflow_bench.retrieval.data_restbench import is_restbench, read_restbench
from toolflow_bench.retrieval.data_stabletoolbench import is_stabletoolbench, read_stabletoolbench


def load_data(path: Path) -> RetrievalData:
    """The tools and queries at `path`.

    A file of tools and queries (ToolE's, or anybody's in that format), StableToolBench's folder or one of its files,
    RestBench's, or LiveMCPBench's listings.

    Raises:
        InvalidRetrievalData: it is none of these; says what is expected.
    """
    if not path.exists():
        raise InvalidRetrievalData(f"there is nothing at {str(path)!r}; give {EXPECTED}.")
    if is_stabletoolbench(path):
        return read_stabletoolbench(path)
    if is_restbench(path):
        return read_restbench(path)
    if path.is_dir():
        return read_labelled(path)
    content = read_json(path, expected=EXPECTED)
    if is_livemcp(content):
        return livemcp(content)
    return labelled(content, name=path.stem, where=str(path))
