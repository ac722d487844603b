"""The source policy: what only attacks need is refused with a way out, and ordinary programs are let through."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shared_data import folder
from sandbox.policy import refusal_trace, review
from sandbox.trace import Pins
from tests.labs.paths import DATA

PARTS = re.split(
    r"^#### (\w+)\n",
    (DATA / "policy_programs/ordinary.txt").read_text("utf-8"),
    flags=re.MULTILINE,
)
ORDINARY = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
HOSTILE = sorted(folder("redteam").glob("*.py"))

SOURCES = json.loads((DATA / "policy.json").read_text("utf-8"))
HARMLESS_IN_TEXT = {"cpu", "memory", "output", "recursion", "rpc-abuse", "signals", "import"}
"""Categories in which some programs do nothing that an ordinary program does not: limits are for those."""


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_is_let_through(name):
    assert review(ORDINARY[name]) == ()


@pytest.mark.data("redteam")
def test_hostile_programs_are_refused_wherever_shown():
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
    assert review(source) == ()


def test_a_refusal_names_line_and_cause():
    violations = review(
        "rows = []\nif rows:\n    data = rows; open('f')\nimport requests, json\njson.x = 1\n"
        + "open('x')\n" * 4
    )
    failure = refusal_trace(violations, backend="unconfined", pins=Pins()).failure
    assert (failure.kind, failure.type, failure.line) == ("policy", "Refused", 3)
    assert failure.message == (
        "line 3: open() is not available in a program\n"
        "line 4: the module 'requests' is not available in a program: use the declared tools, and print results\n"
        "line 5: the module 'json' cannot be changed\n"
        "and 4 more"
    )


@pytest.mark.parametrize(
    "source",
    ["\0", "\ud800", "(" * 10_000, "x" + "+1" * 100_000, "'\\N{no such name}'", "\ufeffx = 1"],
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
    assert review(source) == review(source)
