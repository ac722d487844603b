"""Which names are suggested for an unknown function."""

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

TOOLS = Toolbox([tool("create_booking", reads=False), tool("list_bookings"), tool("list_flights")])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("get_booking", "list_bookings"),
        ("lookup_flight", "list_flights"),
        ("make_booking", "create_booking"),
        ("create_bokking", "create_booking"),
    ],
)
def test_a_read_never_becomes_a_write(written, meant):
    [finding] = check(Program(f"print({written}(id=1))"), TOOLS)
    assert finding.suggestion == meant
    assert ("create_booking" in finding.message) == (meant == "create_booking")
