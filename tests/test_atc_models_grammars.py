"""Grammars on their way to a runtime: judged here first."""

from __future__ import annotations

import pytest

from atc.models import held
from protocols.errors import ModelUnavailable


def test_a_character_that_the_limit_cut_is_no_fault():
    pytest.importorskip("llguidance")
    grammar = "%llguidance {}\nstart: /[a-zé]{1,5}/\n"
    assert held.keeps(grammar, "ab\ufffd", truncated=True)
    assert not held.keeps(grammar, "ab\ufffd", truncated=False)


def test_a_schema_is_sent_so_that_what_can_be_enforced_is(monkeypatch):
    pytest.importorskip("llguidance")
    unique = {"type": "array", "uniqueItems": True}
    assert held.usable({"type": "array"}) == {"type": "array"}
    assert held.usable(unique) == unique | {"x-guidance": {"lenient": True}}
    assert held.usable({"type": "integer", "minimum": 3, "maximum": 2}) is None
    monkeypatch.setattr(held, "find_spec", lambda _: None)
    assert held.usable({"type": "array"}) == {"type": "array", "x-guidance": {"lenient": True}}
    with pytest.raises(ModelUnavailable, match="needs 'llguidance'"):
        held.require_taken("%llguidance {}\nstart: /a/\n")
