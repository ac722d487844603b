"""Truth tests of responses that always have keys."""

import pytest

from atc.core.program import Program
from atc.pipeline.autofix import autofix
from atc.pipeline.check import check
from protocols.protocol import Evidence, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.check_corpus import arr, obj

TEXT = {"type": "string"}
ROWS = obj(rows=arr(TEXT), total={"type": "integer"}) | {"additionalProperties": False}
BOTH = obj(rows=arr(TEXT), more=arr(TEXT))
PLAIN = obj(name=TEXT, size={"type": "integer"})
MAYBE = obj(rows=arr(TEXT), total={"type": "integer"}, optional=("rows", "total"))


def toolbox(level="declared"):
    schemas = {"find": ROWS, "both": BOTH, "get": PLAIN, "maybe": MAYBE}
    return Toolbox(
        [
            Tool(
                protocol=ToolProtocol(
                    name=name,
                    input_schema=obj(q=TEXT, optional=("q",)),
                    output_schema=schema,
                    evidence=Evidence(level=level),
                ),
                call=print,
            )
            for name, schema in schemas.items()
        ]
    )


def findings(source, tools=None):
    found = check(Program(source), tools or toolbox())
    return [one for one in found if one.code == "always-true"]


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("n = 0\nif find(q='a'):\n    n += 1\nprint(n)", "if find(q='a')['rows']:"),
        ("r = find(q='a')\nprint('no' if not r else 'yes')", "if not r['rows'] else"),
        ("print([q for q in 'ab' if find(q=q)])", "if find(q=q)['rows']]"),
        ("print(any(find(q=q) for q in 'ab'))", "any(find(q=q)['rows'] for"),
        ("print(bool(find(q='a')))", "bool(find(q='a')['rows'])"),
        ("print(any([find(q='a'), find(q='b')]))", "find(q='a')['rows'], find(q='b')['rows']"),
        ("if find(q='a') or find(q='b'):\n    print(1)", "if find(q='a')['rows'] or find("),
        ("r = find()\nn = 0\nwhile r:\n    n += r['total']\n    r = find()", "while r['rows']:"),
        (
            "n = 0\nwhile True:\n    r = find()\n    if not r:\n        break\n    n += r['total']",
            "if not r['rows']:",
        ),
        ("def has(q):\n    return find(q=q)\nif has('a'):\n    print(1)", "if has('a')['rows']:"),
    ],
)
def test_the_only_list_is_tested_instead(source, fixed):
    found = findings(source)
    assert found
    assert all(one.certain for one in found)
    assert fixed in autofix(Program(source), tuple(found), toolbox()).source


@pytest.mark.parametrize(
    ("source", "certain"),
    [
        ("print('yes' if both() else 'no')", True),  # which list is meant is unknown
        ("r = find(q='a') or find(q='b')\nprint(r['total'])", True),
        ("print('yes' if get() else 'no')", False),  # it may ask if the call works
        ("try:\n    if find():\n        print(1)\nexcept ToolError:\n    print(0)", False),
    ],
)
def test_a_test_without_one_correction(source, certain):
    (found,) = findings(source)
    assert found.certain == certain
    assert found.suggestion is None or not certain


@pytest.mark.parametrize(
    "source",
    [
        "r = find()\nif r:\n    print(r['rows'])",  # tested to be safe, and then read
        "r = find()\nif not r:\n    print('none')\nelse:\n    print(r['total'])",
        "r = find()\nif r['rows']:\n    print(1)",
        "r = find() or {}\nprint(r['total'])",
        "r = find()\nassert r\nprint(r['total'])",
        "if maybe():\n    print(1)",
        "r = None\ntry:\n    r = find()\nexcept ToolError:\n    pass\nprint('yes' if r else 'no')",
        "r = find()\nwhile r:\n    print(r['total'])\n    break",
    ],
)
def test_a_harmless_test_is_no_finding(source):
    assert findings(source) == []


def test_what_was_only_observed_gives_a_note():
    (found,) = findings("print('yes' if find() else 'no')", toolbox("observed"))
    assert not found.certain
