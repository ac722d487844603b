"""The marker `data`: tests that read `../shared`, which not every checkout has beside it.

`@pytest.mark.data(NAME)` says which data a test reads. Where the data is missing, the test is skipped, and the summary
says what was not tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from benchmarks.shared_data import FOLDERS, folder

SUBJECTS = {
    "bfcl": "programs over BFCL's functions",
    "redteam": "the hostile programs",
    "restbench": "RestBench's documents, its tasks, and programs over its APIs",
    "snippets": "the ordinary programs",
}
"""By the name of some data, what is not tested without it."""


def reason(name: str) -> str:
    """Return the sentence that says what is skipped without this data, and why."""
    return f"{SUBJECTS[name]} are not tested, since ../shared/{FOLDERS[name]} is not beside this checkout"


def skip_without_data(items: Iterable[pytest.Item]) -> None:
    """Mark each test as skipped whose data is missing."""
    for item in items:
        for marker in item.iter_markers("data"):
            for name in marker.args:
                if not folder(name).is_dir():
                    item.add_marker(pytest.mark.skip(reason=reason(name)))


def summary(skipped: Iterable[pytest.TestReport]) -> list[str]:
    """Return a line for each data that was missing: what was not tested, and how many tests were skipped for it."""
    counts: Counter[str] = Counter()
    for report in skipped:
        if isinstance(report.longrepr, tuple):
            counts[report.longrepr[2].removeprefix("Skipped: ")] += 1
    sentences = filter(counts.get, map(reason, SUBJECTS))
    return [f"{sentence} ({counts[sentence]} skipped)" for sentence in sentences]
