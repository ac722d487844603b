"""Scalars and records in a response, with their paths."""

from probing.response_values import harvest


def test_scalars_have_paths():
    assert list(harvest({"airports": [{"code": "JFK", "runways": 4}]})) == [
        ("airports[].code", "JFK", False),
        ("airports[].runways", 4, False),
    ]
    assert list(harvest({"password": "hunter2"})) == [("password", "hunter2", True)]
