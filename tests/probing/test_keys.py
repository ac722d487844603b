"""Keys of JSON objects."""

from probing.keys import own_data_keys, property_names


def test_schemas_name_their_properties():
    assert sorted(property_names({"properties": {"a": {"properties": {"b": {}}}}})) == ["a", "b"]
    assert sorted(own_data_keys([{"name": 1, "size": 2}])) == []
