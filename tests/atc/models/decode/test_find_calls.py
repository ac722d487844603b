"""What is written like a call."""

from atc.models.decode.find_calls import find_calls
from atc.models.decode.formats import PYTHON_CALL


def test_known_names_are_found_as_calls():
    text = "get_city(name='Oslo', zip=[1])"
    (call,) = find_calls(text, PYTHON_CALL, lambda name: name == "get_city")
    assert (call.name, call.named, call.problem) == ("get_city", {"name": "Oslo", "zip": [1]}, "")
    assert list(find_calls("nothing here", PYTHON_CALL, lambda name: True)) == []
