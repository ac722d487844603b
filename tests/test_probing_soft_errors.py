"""Refusals that come with status 200, told from data that merely looks alike."""

import pytest

from probing.replies import as_refused, refusal_in
from probing.samples import Sample


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
        ({"success": False, "message": "sort must be asc or desc"}, "sort must be asc or desc"),
        ({"status": "error", "code": 42, "message": "missing id", "data": None}, "missing id"),
        ({"errors": [{"message": "no field x"}], "data": None}, '[{"message": "no field x"}]'),
    ],
)
def test_refusals(response, said):
    assert refusal_in(response) == said


@pytest.mark.parametrize(
    "response",
    [
        {"ok": True, "error": None, "users": [1]},
        {"status": "failed", "amount": 5, "message": "card declined"},
        {"error": "boom", "job": "j1", "started": "2026-01-01"},
        {"status": "error"},
        {"errors": [{"message": "partly"}], "data": {"a": 1}},
        {"error": 0.02, "value": 3.1},
        {"id": 7, "type": "job", "status": "failed", "description": "nightly"},
        None,
    ],
)
def test_data(response):
    assert refusal_in(response) == ""


def test_a_sample_of_one_reads_like_an_error_reply():
    sample = Sample(number=1, tool="t", response={"ok": False, "error": "id must be an integer"})
    refused = as_refused(sample)
    assert (refused.done, refused.status, refused.error) == (False, 200, "id must be an integer")
    assert refused.answer == '{"ok": false, "error": "id must be an integer"}'
    assert as_refused(refused) is refused
    good = Sample(number=2, tool="t", response={"ok": True, "n": 1})
    assert as_refused(good) is good
