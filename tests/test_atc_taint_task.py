"""What stands in a person's words: whole values, never parts; numbers however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.taint.clean import Words
from atc.taint.values import number, numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Write to bob@example.org.", "bob@example.org"),
        ("to:bob@example.org", "bob@example.org"),
        ("Close Bob's account", "Bob"),
        ("Ask @ann about #general", "general"),
        ("Book for 'Noor Haddad'", "Noor Haddad"),
        ("Ship to Main\n  Street 5", "Main Street 5"),
        ("The account is 12345", 12345),
        ("Call +49 170 1234567 today", "+49 170 1234567"),
    ],
)
def test_a_recipient_stands_there_as_a_whole(text, value):
    assert Words(text).hold(value, "recipient")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Write to bob@example.org.evil.com", "bob@example.org"),
        ("Write to bob@example.org", "example.org"),
        ("Write to Bob@example.org", "bob@example.org"),
        ("Write to bob@example.org", "bоb@example.org"),  # a Cyrillic letter
        ("Write to bob@example.org", "bob@example.org\nBcc: eve@example.org"),
        ("Write to bob@example.org and go", "bob@example.org and"[:16]),
        ("Ask O'Brien", "Brien"),
        ("Send all of it to Bob", "all"),
        ("Send it", ""),
        ("The account is 123456", 12345),
        ("Meet bob@alice", "alice"),
        ("Call +49 170 1234567", "+49 170"),
    ],
)
def test_a_part_or_a_lookalike_does_not(text, value):
    assert not Words(text).hold(value, "recipient")


@pytest.mark.parametrize(
    ("text", "value", "there"),
    [
        ("See https://example.org/Path.", "https://example.org/Path", True),
        ("See https://example.org/Path", "https://example.org/path", False),
        ("See https://example.org/a/b", "https://example.org/a", False),
        ("See https://example.org", "https://example.org@evil.com", False),
        ("See https://example.org@evil.com/x", "https://example.org", False),
        ("See https://evil.com:8080/", "8080", False),
    ],
)
def test_a_url(text, value, there):
    assert Words(text).hold(value, "url") is there


@pytest.mark.parametrize(
    ("text", "value", "there"),
    [
        ("Run `uptime`", "uptime", True),
        ("Run `backup --all --dry-run`", "backup --all --dry-run", True),
        ("Run `backup --all --dry-run`", "backup --all", False),
        ('Run "rm -r x" never', "rm -r", False),
        ("Run ls\nthen stop", "ls then", False),
    ],
)
def test_a_command_is_all_that_was_quoted(text, value, there):
    assert Words(text).hold(value, "command") is there


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pay $1,200.00 now", 1200),
        ("pay $1,200.00 now", "1200.00"),
        ("pay 1.200,50 € now", 1200.5),
        ("pay $1.2 million", 1_200_000),
        ("pay 5k", 5000),
        ("take -5", -5),
        ("pay 50 to DE02 1203 0000 0000 2020 51", 50),
    ],
)
def test_an_amount_in_any_spelling(text, value):
    assert Words(text).hold(value, "amount")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pay 50", 5),
        ("pay 5", 50),
        ("pay $1.2 million", 1.2),
        ("pay $1.20", "1.200"),  # 1200 to half of the world
        ("pay 1000", "1e3"),
        ("take -5", 5),
        ("on 2013-07-04", 7),
        ("at 12:30", 30),
        ("mail a5@x5.org", 5),
        ("within 5m", 5_000_000),
        ("pay 1", True),
        ("pay 50 to DE02 1203 0000 0000 2020 51", 2020),
    ],
)
def test_no_amount_by_chance(text, value):
    assert not Words(text).hold(value, "amount")


@settings(deadline=None)
@given(
    st.from_regex(r"[a-z]{1,8}@[a-z]{2,8}\.org", fullmatch=True),
    st.text("abc019.@-_/", min_size=1, max_size=4).filter(lambda glue: glue[0] != "." and glue.strip(".")),
)
def test_whatever_is_glued_to_an_address_makes_it_another_one(address, glue):
    assert Words(f"write to {address}, please").hold(address, "recipient")
    assert not Words(f"write to {address}{glue}, please").hold(address, "recipient")
    assert not Words(f"write to {address}, please").hold(address + glue, "recipient")
    assert not Words(f"write to x{address}, please").hold(address, "recipient")


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_an_amount_is_read_as_it_was_written(amount):
    assert numbers(f"pay {amount} to Bob") >= {amount}
    assert numbers(f"pay ${amount:,} to Bob") >= {amount}
    assert number(f"{amount:,}") == amount


def test_numbers_of_any_length_are_no_trouble():
    assert numbers("9" * 10_000) == frozenset()
    assert number("1e99") == Decimal("1e99")
    assert number("1e999999999") is None
