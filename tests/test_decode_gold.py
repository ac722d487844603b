"""Gold calls of the published sets: each that conforms to its schema is accepted, and only those."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

pytest.importorskip("llguidance")

from atc.decode.arguments import arguments_grammar
from atc.decode.lark import lark
from tests.check_lab import SHARED
from tests.decode_schema_lab import takes
from toolflow_bench.decoding.gold import Gold, gold_calls

DATA = SHARED / "data"


@cache
def _gold() -> list[Gold]:
    if not (DATA / "funcqa").is_dir():
        pytest.skip("the shared data is not here")
    return gold_calls(DATA)


def _distinct() -> list[Gold]:
    """Calls that differ, a good part of each set: keeping all of them would take a minute."""
    found = {(one.source, one.tool.alias, one.form, one.text): one for one in _gold()}
    return [one for i, one in enumerate(found.values()) if one.source != "BFCL" or i % 3 == 0]


def test_the_sets_are_read_whole() -> None:
    counts = Counter(one.source for one in _gold())
    assert counts["FuncQA train"] == 647
    assert counts["FuncQA one_hop"] == 60
    assert counts["BFCL"] == 2 * 1142
    assert counts["RestBench"] > 200


def test_every_gold_call_that_conforms_is_accepted_and_no_other() -> None:
    wrong = []
    for one in _distinct():
        accepted = takes(lark(arguments_grammar(one.tool, one.form)), one.text)
        if accepted is not one.conforms:
            wrong.append((one.source, one.tool.alias, one.text, one.why))
    assert not wrong


def test_the_gold_calls_that_do_not_conform_are_known() -> None:
    others = {(one.source, one.tool.alias, one.text): one.why for one in _gold() if not one.conforms}
    assert others == {
        ("FuncQA train", "gcd", "264"): 'the arguments: "b" is a required property',
        ("FuncQA train", "permutate", "10,10-3"): "'10-3' is no number",
        ("BFCL", "close_ticket", "ticket_id='ticket_001'"): 'ticket_id: "ticket_001" is not of type "integer"',
        ("BFCL", "close_ticket", '{"ticket_id": "ticket_001"}'): 'ticket_id: "ticket_001" is not of type "integer"',
    }
