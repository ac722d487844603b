"""Reading and limiting what a client asks for."""

from atc.serve.requests import validate_names, validate_program, validate_query


def test_requests_are_limited():
    assert validate_names("a") == ["a"]
    assert validate_names(["a", "b", "a"]) == ["a", "b"]
    assert validate_query("  find flights ") == "  find flights "
    assert validate_program("print(1)").source == "print(1)"
