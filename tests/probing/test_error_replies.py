"""What error replies say of arguments."""

import json

import pytest

from probing.error_replies import hints
from probing.samples import Sample
from tests.labs.paths import DATA

NAMES = {name: name for name in ("limit", "sort", "city", "since")}


def read(answer, status=422, **sent):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    sample = Sample(number=1, tool="t", outcome="refused", status=status, error=text, answer=text)
    return [(hint.kind, hint.argument) for hint in hints(sample, NAMES)]


REFUSALS = [json.loads(line) for line in (DATA / "refusals.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "case", REFUSALS, ids=[f"{number} {case['of']}" for number, case in enumerate(REFUSALS)]
)
def test_refusals_are_read_without_inventing_arguments(case):
    found = read(case["reply"])
    assert tuple(case["hint"]) in found if case["hint"] else found == []
    assert not case.get("alone") or len(set(found)) == 1


def test_a_time_zones_id_is_no_time():
    assert read("argument 'since' must be an opaque id of a time zone, got 'x'.") == [
        ("refused", "since")
    ]
