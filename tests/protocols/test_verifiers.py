"""Reads that show what a write has changed."""

from protocols.verifiers import record_fields
from tests.labs.tools import record, tool


def test_the_fields_of_a_record_have_no_wrapper():
    note = record(id="string", text="string")
    assert record_fields(tool("get_note", None, {}, note).protocol) == {"id", "text"}
    assert record_fields(tool("get_note", None, {}, None).protocol) == frozenset()
