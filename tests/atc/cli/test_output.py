from __future__ import annotations

import json

import pytest

from atc.cli.output import json_text
from atc.core.text import escape_controls

HOSTILE = "a\x1b[2J\x9b31m\x07\x00\r\x7f\u202eevil\u2066\u2028\ud800\ufeff\U000e0041z"


def test_nothing_that_acts_on_a_terminal_is_left() -> None:
    shown = escape_controls(HOSTILE + "\n\t")
    assert shown.isprintable()
    assert shown.startswith(
        "a\\x1b[2J\\x9b31m\\x07\\x00\\r\\x7f\\u202eevil\\u2066\\u2028\\ud800\\ufeff"
    )
    assert shown.endswith("z\\n\\t")
    assert escape_controls("a\n\tb\x1b", keep_newlines=True) == "a\n\tb\\x1b"


@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_shown_safely_and_unchanged(indent: int | None) -> None:
    value = {HOSTILE: [HOSTILE, 1, None]}
    shown = json_text(value, indent=indent)
    assert escape_controls(shown, keep_newlines=True) == shown
    assert json.loads(shown) == value
