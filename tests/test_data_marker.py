"""The marker `data`: what is skipped without `../shared`, and what the summary says of it."""

import re
from types import SimpleNamespace

from benchmarks.shared_data import FOLDERS
from tests.labs.data_marker import SUBJECTS, reason, summary
from tests.labs.paths import TESTS


def test_every_data_names_what_is_untested():
    assert SUBJECTS.keys() == FOLDERS.keys()


def test_the_summary_counts_skipped_tests_by_data():
    reasons = [reason("redteam"), "no docker here", reason("bfcl"), reason("redteam")]
    reports = [
        SimpleNamespace(longrepr=("tests/test_x.py", 1, f"Skipped: {one}")) for one in reasons
    ]
    assert summary([*reports, SimpleNamespace(longrepr="collected")]) == [
        f"{reason('bfcl')} (1 skipped)",
        "the hostile programs are not tested, since ../shared/redteam is not beside this checkout (2 skipped)",
    ]


def test_no_test_finds_shared_data_by_itself():
    own = re.compile(r"""/ ["']shared["']|["']\.\./shared""")
    tests = TESTS.rglob("*.py")
    assert [file.name for file in tests if own.search(file.read_text(encoding="utf-8"))] == []
