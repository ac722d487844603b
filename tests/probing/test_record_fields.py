"""Records in JSON values."""

from probing.record_fields import (
    argument_parts,
    has_list,
    id_fields,
    is_id_name,
    iter_records,
    value_texts,
)


def test_records_and_their_ids_are_found():
    assert is_id_name("user_id")
    assert is_id_name("UUID")
    assert not is_id_name("width")
    assert has_list({"rows": [1]})
    assert not has_list({"row": 1})
    assert list(iter_records({"user": {"id": 1}})) == [
        ({"user": {"id": 1}}, ""),
        ({"id": 1}, "user"),
    ]
    assert list(id_fields({"id": 7, "userId": "x", "name": "y"})) == [("id", 7), ("user_id", "x")]
    assert argument_parts({"a": {"b": 1}, "c": [2]}) == [("b", 1), ("c", 2)]
    assert list(value_texts({"name": "x", "size": 5})) == ["x", "size=5"]
