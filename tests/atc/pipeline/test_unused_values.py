"""Values that do not reach the answer of a program."""

import ast

import pytest

from atc.pipeline.unused_values import find_dropped_results, find_unused_variables
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

TOOLS = Toolbox([tool("find"), tool("change", reads=False)])


@pytest.mark.parametrize(
    ("source", "unused"),
    [
        ("code = find('x')\nprint(1)", ["code"]),
        ("total = 0\nfor row in rows:\n    total += row['n']\nprint(rows)", ["total"]),
        ("a = find('a')\nb = find('b')\ntotal = a + b\nprint(a)", ["total"]),
        ("names = []\nfor c in codes:\n    names.append(find(c))\nprint(codes)", ["names"]),
        ("seats = {}\nfor r in rows:\n    seats[r['id']] = r['seats']\nprint(r['id'])", ["seats"]),
        ("n = 0\nfor r in rows:\n    n = n + 1\nprint(rows[0])", ["n"]),
        ("def f(x):\n    y = x['a']\n    return x\nprint(f(1))", ["y"]),
    ],
)
def test_a_computed_value_that_is_never_used(source, unused):
    assert [name for name, _ in find_unused_variables(ast.parse(source))] == unused


@pytest.mark.parametrize(
    "source",
    [
        "code = find('x')\nprint(f'{code}')",
        "limit = 5\n_rest = find('x')\nprint(1)",
        "code = find('x')\nprint(locals())",
        "a = find('a')\nb = a['b']\nif b > 1:\n    print('more')",
        "seen = set()\nfor r in rows:\n    if r['id'] not in seen:\n        seen.add(r['id'])\n        print(r)",
        "groups = {}\nfor r in rows:\n    g = groups.setdefault(r['k'], [])\n    g.append(r)\nprint(groups)",
        "def note(x):\n    log.append(x)\nlog = []\ny = note(rows[0])\nprint(log)",
        "def show(x):\n    print(x)\nfor r in rows:\n    show(r)",
        "first, rest = find('x')\nprint(first)",
        "x = find('x')\nif x is None:\n    raise ValueError(x)",
        "total = 0\ndef add(n):\n    global total\n    total += n\nadd(1)\nprint(total)",
        "page = 1\nwhile True:\n    r = find(page=page)\n    print(r)\n    page += 1",
    ],
)
def test_a_used_value_is_no_slip(source):
    assert find_unused_variables(ast.parse(source)) == []


@pytest.mark.parametrize(
    ("source", "dropped"),
    [
        ("find('x')\nprint(1)", ["find"]),
        ("for q in 'ab':\n    find(q)\nprint(1)", ["find"]),
        ("change('x')\nprint(1)", []),
        ("try:\n    find('x')\n    print('yes')\nexcept ToolError:\n    print('no')", []),
        ("x = find('x')\nfind(x)", []),  # its value may be the answer
    ],
)
def test_a_read_whose_result_is_dropped(source, dropped):
    assert [name for name, _ in find_dropped_results(ast.parse(source), TOOLS)] == dropped
