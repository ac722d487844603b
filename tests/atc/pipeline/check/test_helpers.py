"""Types follow the program's own helpers, so that a renamed key is found behind them."""

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.toolbox import Toolbox
from tests.labs.tools import TEXT, tool

ROW = {"type": "object", "properties": {"id": TEXT, "name_value": TEXT}}
PAGE = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": ROW}, "pages": {"type": "integer"}},
}
TOOLS = Toolbox(
    [
        tool("search", None, {"q": "string"}, PAGE),
        tool("rows", None, {"q": "string"}, {"type": "array", "items": ROW}),
        tool("unknown", None, {"q": "string"}),
    ]
)
HELPERS = [
    """
def items(x):
    if isinstance(x, list):
        return x
    for v in x.values():
        if isinstance(v, list):
            return v
    return []
""",
    """
def items(x):
    return x["items"] if type(x) is dict else x
""",
    """
def items(x):
    if isinstance(x, list):
        return x
    for key in ("results", "items", "data"):
        if key in x:
            return x[key]
    raise ValueError(x)
""",
    "items = lambda x: x if isinstance(x, list) else next(v for v in x.values() if isinstance(v, list))\n",
]
FINDS = "f = next(f for f in items({}(q='a')) if f['{}'] == 'b')\nprint(f['id'])\n"


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize("read", ["search", "rows"])
def test_a_renamed_key_is_found_behind_helpers(helper, read):
    [finding] = check(Program(helper + FINDS.format(read, "name")), TOOLS)
    assert (finding.code, finding.tool) == ("missing-key", read)
    assert check(Program(helper + FINDS.format(read, "name_value")), TOOLS) == ()


@pytest.mark.parametrize("helper", HELPERS)
def test_nothing_is_found_where_nothing_is_known(helper):
    assert check(Program(helper + FINDS.format("unknown", "name")), TOOLS) == ()


@pytest.mark.parametrize(
    "tried",
    [
        "if key in row:\n            return row[key]",
        "if row.get(key):\n            return row[key]",
    ],
)
def test_keys_that_are_tried_are_no_mistakes(tried):
    source = f"""
def name(row):
    for key in ("name", "title", "name_value"):
        {tried}
print(name(rows(q="a")[0]).upper())
"""
    assert check(Program(source), TOOLS) == ()
