"""Changes of a TOML text."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.cli.toml_edit import CannotEdit, remove_value, set_value, to_toml

TEXT = """# mine

model = "a"  # cheap # really
tools = [
  "x",  # first
]

# the shop
[credentials.shop]
value = "env:SHOP" # '#'
"a=b" = 1

[mcp.files]
env = { A = "env:B" }
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("model",), "b", 'model = "a"  # cheap', 'model = "b"  # cheap'),
        (("tools",), ["y"], '[\n  "x",  # first\n]', '["y"]'),
        (("max_calls",), 5, "]\n\n# the shop", "]\nmax_calls = 5\n\n# the shop"),
        (("credentials", "shop", "value"), "x", '"env:SHOP" #', '"x" #'),
        (("credentials", "shop", "a=b"), 2, '"a=b" = 1', '"a=b" = 2'),
        (("mcp", "files", "env", "C.D"), "x", '"env:B" }', '"env:B", "C.D" = "x" }'),
        (("mcp", "files", "url"), "u", '"env:B" }\n', '"env:B" }\nurl = "u"\n'),
        (("headers", "h.org", "A"), "x", None, '\n[headers."h.org"]\nA = "x"\n'),
    ],
)
def test_only_the_value_changes(path, value, old: str | None, new: str) -> None:
    wanted = TEXT + new if old is None else TEXT.replace(old, new)
    assert set_value(TEXT, path, value) == wanted


def test_a_setting_is_placed_above_the_first_header() -> None:
    assert set_value("", ("a",), True) == "a = true\n"
    assert set_value("# of b\n[b]\n", ("a",), 1) == "a = 1\n\n# of b\n[b]\n"
    assert set_value("t.a = 1", ("t", "b"), 2) == "t.a = 1\nt.b = 2\n"


def test_a_value_or_table_is_removed() -> None:
    assert remove_value(TEXT, ("tools",)) == TEXT.replace('tools = [\n  "x",  # first\n]\n', "")
    assert "env = {}" in remove_value(TEXT, ("mcp", "files", "env", "A"))
    assert tomllib.loads(remove_value(TEXT, ("credentials", "shop"))).keys() == {
        "model",
        "tools",
        "mcp",
    }
    with pytest.raises(KeyError):
        remove_value(TEXT, ("credentials", "shop", "none"))


def test_a_form_that_cannot_be_changed_is_refused() -> None:
    with pytest.raises(CannotEdit):
        set_value("a = 1\n", ("a", "b"), 2)
    with pytest.raises(CannotEdit):
        set_value("[[a]]\nb = 1\n", ("a", "b"), 2)


@given(st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
))  # fmt: skip
def test_every_value_is_read_back(value) -> None:
    assert tomllib.loads(f"a = {to_toml(value)}")["a"] == value
