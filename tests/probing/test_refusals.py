"""Refusals in responses that look like answers."""

import pytest

from probing.refusals import refusal_in


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
        ({"success": False, "message": "sort must be asc or desc"}, "sort must be asc or desc"),
        ({"status": "error", "code": 42, "message": "missing id", "data": None}, "missing id"),
        ({"errors": [{"message": "no field x"}], "data": None}, '[{"message": "no field x"}]'),
    ],
)
def test_refusals_with_status_200_are_recognized(response, said):
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
def test_data_that_looks_like_a_refusal_is_data(response):
    assert refusal_in(response) == ""
