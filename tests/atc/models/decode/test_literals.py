"""Reads arguments as models write them."""

from atc.models.decode.literals import json_object, python_text, quotient, read_bracketed, value_of


def test_arguments_are_read_as_models_write_them():
    assert json_object('  {"a": 1} rest', 0) == ({"a": 1}, 10)
    assert value_of("True")
    assert value_of("[1, 2]") == [1, 2]
    assert value_of("4/3") == "4/3"
    assert python_text({"a": None, "b": True}) == '{"a": None, "b": True}'
    assert quotient("4/3") == 1.3333333333333333
    assert quotient("x") is None
    assert read_bracketed('1, city="Rome")', 0, ")").values == [1]
    assert read_bracketed('1, city="Rome")', 0, ")").named == {"city": "Rome"}
