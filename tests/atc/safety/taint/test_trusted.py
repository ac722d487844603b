"""What stands in a person's words: whole values, never parts; numbers however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.safety.taint.trusted import is_in_text
from atc.safety.taint.values import number, numbers

STAND = {
    "recipient": [
        ("to:bob@example.org.", "bob@example.org"),
        ("Close Bob's account", "Bob"),
        ("Ask @ann about #general", "general"),
        ("Ship to Main\n  Street 5", "Main Street 5"),
        ("The account is 12345", 12345),
        ("Call +49 170 1234567 today", "+49 170 1234567"),
    ],
    "url": [("See https://example.org/Path.", "https://example.org/Path")],
    "command": [
        ("Run `uptime`", "uptime"),
        ("Run `backup --all --dry-run`", "backup --all --dry-run"),
    ],
    "amount": [
        ("pay $1,200.00 now", 1200),
        ("pay $1,200.00 now", "1200.00"),
        ("pay 1.200,50 € now", 1200.5),
        ("pay $1.2 million", 1_200_000),
        ("pay 5 Mio. Euro", 5_000_000),
        ("pay ₹2 crore", 20_000_000),
        ("pay 5k", 5000),
        ("take -5", -5),
        ("pay 50 to DE02 1203 0000 0000 2020 51", 50),
    ],
}
DO_NOT = {
    "recipient": [
        ("Write to bob@example.org.evil.com", "bob@example.org"),
        ("Write to bob@example.org", "example.org"),
        ("Write to Bob@example.org", "bob@example.org"),
        ("Write to bob@example.org", "bоb@example.org"),  # a Cyrillic letter
        ("Write to bob@example.org", "bob@example.org\nBcc: eve@example.org"),
        ("Ask O'Brien", "Brien"),
        ("Send all of it to Bob", "all"),
        ("Send it", ""),
        ("The account is 123456", 12345),
        ("Call +49 170 1234567", "+49 170"),
    ],
    "url": [
        ("See https://example.org/Path", "https://example.org/path"),
        ("See https://example.org/a/b", "https://example.org/a"),
        ("See https://example.org", "https://example.org@evil.com"),
        ("See https://example.org@evil.com/x", "https://example.org"),
        ("See https://evil.com:8080/", "8080"),
    ],
    "command": [("Run `backup --all --dry-run`", "backup --all"), ("Run ls\nthen stop", "ls then")],
    "amount": [
        ("pay 50", 5),
        ("pay $1.2 million", 1.2),
        ("transfiere 3 millones", 3),
        ("zahle 5 Tsd. Euro", 5),
        ("pay $1.20", "1.200"),  # 1200 to half of the world
        ("take -5", 5),
        ("on 2013-07-04", 7),
        ("at 12:30", 30),
        ("mail a5@x5.org", 5),
        ("within 5m", 5_000_000),
        ("pay 1", True),
        ("pay 50 to DE02 1203 0000 0000 2020 51", 2020),
    ],
}


@pytest.mark.parametrize("kind", STAND)
def test_only_whole_values_of_the_task_count(kind):
    for text, value in STAND[kind]:
        assert is_in_text(text, value, kind), (text, value)
    for text, value in DO_NOT[kind]:
        assert not is_in_text(text, value, kind), (text, value)


@settings(deadline=None, max_examples=40)
@given(
    st.from_regex(r"[a-z]{1,8}@[a-z]{2,8}\.org", fullmatch=True),
    st.text("abc019.@-_/", min_size=1, max_size=4).filter(
        lambda glue: glue[0] != "." and glue.strip(".")
    ),
)
def test_text_glued_to_an_address_changes_it(address, glue):
    assert is_in_text(f"write to {address}, please", address, "recipient")
    assert not is_in_text(f"write to {address}{glue}, please", address, "recipient")
    assert not is_in_text(f"write to {address}, please", address + glue, "recipient")
    assert not is_in_text(f"write to x{address}, please", address, "recipient")


@settings(deadline=None, max_examples=40)
@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_an_amount_is_read_as_it_was_written(amount):
    assert numbers(f"pay {amount} to Bob") >= {amount}
    assert numbers(f"pay ${amount:,} to Bob") >= {amount}
    assert number(f"{amount:,}") == amount


def test_numbers_of_any_length_are_no_trouble():
    assert numbers("9" * 10_000) == frozenset()
    assert number("1e99") == Decimal("1e99")
    assert number("1e999999999") is None
