"""The further calls that one question lists."""

from atc.core.json_paths import walk_responses
from atc.safety.taint.leaves import Leaf
from atc.safety.taint.siblings import sibling_arguments
from sandbox.trace import ToolCall

PEOPLE = [{"mail": f"p{number}@x.example", "boss": f"b{number}@x.example"} for number in range(3)]


def siblings(arguments, *places, responses=(PEOPLE,)):
    """Siblings of a call whose values at `places`, such as `("to", 0)`, are tainted."""
    calls = [
        ToolCall(index=index, tool="people", arguments={}, line=1, result=result)
        for index, result in enumerate(responses)
    ]
    leaves = []
    for argument, *path in places:
        value = arguments[argument]
        for step in path:
            value = value[step]
        leaves.append(Leaf(argument=argument, path=tuple(path), value=value, kind="recipient"))
    return list(sibling_arguments(leaves, arguments, list(walk_responses(calls))))


def test_each_item_is_another_call():
    found = siblings({"to": "p1@x.example", "text": "hi"}, ("to",))
    assert found == [{"to": f"p{number}@x.example", "text": "hi"} for number in (0, 2)]


def test_values_within_an_argument_count():
    found = siblings({"message": {"to": ["p0@x.example"]}}, ("message", "to", 0))
    assert found == [{"message": {"to": [f"p{number}@x.example"]}} for number in (1, 2)]


def test_values_of_one_item_stay_together():
    found = siblings({"to": "p0@x.example", "cc": "b0@x.example"}, ("to",), ("cc",))
    assert found == [{"to": f"p{n}@x.example", "cc": f"b{n}@x.example"} for n in (1, 2)]


def test_other_sources_have_no_siblings():
    assert siblings({"to": "eve@evil.example"}, ("to",)) == []
    both = {"to": "p0@x.example", "cc": "q@x.example"}
    assert siblings(both, ("to",), ("cc",), responses=(PEOPLE, ["q@x.example"])) == []
    assert siblings({"to": "p@x.example"}, ("to",), responses=({"mail": "p@x.example"},)) == []
