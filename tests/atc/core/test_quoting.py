"""Quoting of foreign names and values for questions to a person."""

from atc.core.quoting import (
    command,
    escape_hidden,
    format_number,
    quote_name,
    quoted,
    safe_shell_argument,
    shell_word,
)


def test_names_and_values_are_quoted_on_one_line():
    assert quote_name("get_user") == "get_user"
    assert quote_name("get user") == "'get user'"
    assert quoted("a\nb") == "'a\\nb'"
    assert quoted({"a": 1}) == '{"a": 1}'
    assert escape_hidden("a\u200bb") == "a\\u200bb"
    assert format_number(True) == "true"
    assert format_number(1.5) == "1.5"


def test_a_command_with_hidden_characters_is_none():
    assert command("atc", "runs", "show", "a b") == "atc runs show 'a b'"
    assert command("atc", "a\u202eb") is None
    assert safe_shell_argument("it's") == "'it'\"'\"'s'"
    assert shell_word("plain") == "plain"
