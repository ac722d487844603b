"""Matching of records that reads show with the calls that may have created them."""

from probing.record_matching import is_among, record_ids


def test_ids_are_those_of_the_record_itself():
    assert is_among("alert", ["storm_alert"])
    assert not is_among("alert", ["user"])
    assert sorted(
        map(str, record_ids({"id": 1, "user_id": 2}, {"order", "user"}, "order").values())
    ) == ["1"]
