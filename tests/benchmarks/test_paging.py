"""The benchmark of lists in pages judges right, wrong and marked answers."""

from __future__ import annotations

import pytest

from benchmarks.paging.__main__ import Case, judge
from benchmarks.paging.services import WAYS


@pytest.mark.parametrize("by_pages", [False, True])
def test_a_paged_list_is_read_whole(sandbox, by_pages):
    verdict = judge(Case(WAYS[0], 60, "How many items are there?", by_pages), sandbox)
    assert (verdict.right, verdict.asked, verdict.requests) == (True, 1, 2)
