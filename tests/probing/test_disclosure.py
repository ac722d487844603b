"""What a protocol shows of the values and texts of calls."""

import pytest

from probing.disclosure import Disclosure
from probing.tool_facts import learn
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from tests.labs.probing_tools import sample

FIND = ToolProtocol(
    name="find",
    input_schema={"type": "object", "properties": {"city": {}, "password": {}}},
    annotations=Annotations(read_only=True),
    binding=HttpBinding(method="GET", url="https://api.example.org/films"),
)
CALL = sample(1, {"title": "Alien"}, city="Boston", password="hunter2hunter2")


@pytest.mark.parametrize(
    ("keep_values", "shown"),
    [
        (False, "no '{city}' in '…' for <secret>"),
        (True, "no '{city}' in 'Maine' for <secret>"),
    ],
)
def test_error_messages_hide_values(keep_values, shown):
    disclosure = Disclosure(learn(FIND, [CALL]), keep_values=keep_values)
    arguments = {"city": CALL.arguments["city"]}
    assert disclosure.words("no 'Boston' in 'Maine' for hunter2hunter2", arguments) == shown


@pytest.mark.parametrize(("keep_values", "result"), [(False, None), (True, {"title": "Alien"})])
def test_responses_are_shown_only_if_values_are(keep_values, result):
    disclosure = Disclosure(learn(FIND, [CALL]), keep_values=keep_values)
    assert disclosure.result(CALL.response) == result
