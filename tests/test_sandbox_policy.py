"""The source policy: what only attacks need is refused with a way out, and ordinary programs are let through."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.policy import render, review

ROOT = Path(__file__).resolve().parent.parent
PARTS = re.split(r"^#### (\w+)\n", (ROOT / "tests/policy_programs/ordinary.txt").read_text("utf-8"), flags=re.MULTILINE)
ORDINARY = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
HOSTILE = sorted((ROOT.parent / "shared" / "redteam").glob("*.py"))

SOURCES = json.loads((ROOT / "tests/data/policy.json").read_text("utf-8"))
HARMLESS_IN_TEXT = {"cpu", "memory", "output", "recursion", "rpc-abuse", "signals", "import"}
"""Categories in which some programs do nothing that an ordinary program does not: limits are for those."""


def messages(source):
    return [violation.message for violation in review(source)]


def only(source):
    (violation,) = review(source)
    return violation


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_is_let_through(name):
    assert [render(violation, ORDINARY[name]) for violation in review(ORDINARY[name])] == []


@pytest.mark.skipif(not HOSTILE, reason="../shared/redteam is not here")
def test_hostile_programs_are_refused_wherever_the_text_shows_them():
    seen, refused = Counter(), Counter()
    for path in HOSTILE:
        source = path.read_text("utf-8")
        category = re.search("category: (.*)", source)[1]
        seen[category] += 1
        refused[category] += bool(review(source))
    assert {category for category in seen if refused[category] < seen[category]} <= HARMLESS_IN_TEXT
    assert refused.total() >= 53


@pytest.mark.parametrize("source", SOURCES["refused"])
def test_an_attack_is_refused(source):
    assert review(source) != ()


@pytest.mark.parametrize("source", SOURCES["let through"])
def test_what_only_looks_like_one_is_let_through(source):
    assert messages(source) == []


@pytest.mark.parametrize(
    ("source", "suggestion"),
    [
        ("import requests", "use the standard library, or call the declared tools by their names instead"),
        ("eval('[1]')", "use ast.literal_eval for data, int or float for numbers instead"),
        ("open('x')", "print what you found, or use io.StringIO for text in memory instead"),
        ("import json\njson.x = 1", "use a name of your own instead"),
    ],
)
def test_a_refusal_says_what_to_do_instead(source, suggestion):
    assert only(source).suggestion.startswith(suggestion)


def test_it_is_shown_with_its_place():
    source = "rows = []\nif rows:\n    é = rows; data = json_of(open('f'))\n"
    violation = only(source)
    assert (violation.line, violation.column) == (3, 30)
    assert render(violation, source) == (
        "line 3: open() is not available: a program has no files\n"
        "    é = rows; data = json_of(open('f'))\n"
        "print what you found, or use io.StringIO for text in memory instead"
    )


def test_a_long_line_is_shown_around_the_place_and_control_characters_are_not_shown():
    source = "x = '" + "a" * 500 + "\x1b[2J'; open('f')"
    shown = render(only(source), source)
    assert "\x1b" not in shown
    assert "open('f')" in shown
    assert max(map(len, shown.splitlines())) < 140


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_that_python_counts(end):
    source = end.join(("x = 1", "y = '''", "'''", "open('f')"))
    assert only(source).line == 4
    assert "    open('f')" in render(only(source), source)


@pytest.mark.parametrize(
    "source",
    [
        "\0",
        "\ud800",
        "(" * 10_000,
        "x" + "+1" * 100_000,
        "'\\N{no such name}'",
        "\ufeffx = 1",
    ],
)
def test_what_is_no_python_is_not_its_affair(source):
    assert review(source) == ()


PIECES = (  # noqa: SIM905
    "open ( ) [ ] { } : . , = := ' \" \n \t x __class__ __globals__ lambda def class import from as match case * ** @ "
    "f'{ } async await yield 1 gi_frame getattr if else for in try except* del global json os ; \\ é \0"
).split(" ")
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces, max_size=30).map(" ".join) | st.text())
def test_it_never_raises_and_always_finds_the_same(source):
    found = review.__wrapped__(source)
    assert found == review.__wrapped__(source)
    for violation in found:
        assert violation.message in render(violation, source)
