"""What the model is told of a failure, in each of the three ways; over traces that really happened."""

import linecache
import traceback
from dataclasses import replace

import pytest

from atc.core.program import Program
from atc.core.types import Attempt, Fault
from atc.pipeline.attribute import attribute
from atc.pipeline.check import check
from atc.pipeline.repair import WAYS, RepairCase, correction
from atc.pipeline.repair.facts import describe_writes
from atc.pipeline.repair.responses import documentation, format_results, seen_fields
from atc.safety.redaction import Redactor
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.flights_traces import TOOLS, trace_of


def attempt(source, *, checked=False):
    program = Program(source)
    findings = check(program, TOOLS) if checked else ()
    trace = None if findings else trace_of(source)
    return Attempt(program, findings, trace, attribute(program, findings, trace, TOOLS))


def model(*replies):
    """A `complete` that keeps what it was asked."""
    asked = []

    def complete(messages, **settings):
        asked.append((list(messages), settings))
        return Completion(text=replies[len(asked) - 1], model="scripted")

    complete.asked = asked
    return complete


def told(source, *, mode="facts", checked=False, **options):
    return correction(RepairCase(attempt(source, checked=checked), TOOLS, **options), mode)[
        -1
    ].content


MISREAD = "page = list_flights(origin='JFK', date='2013-01-01')\nfor f in page['flights']:\n    print(f['delay'])\n"
NAMED = "page = list_flights(origin='New York', date='2013-01-01')\nprint(page['total'])\n"
EMPTY = Attempt(
    Program(""), (), None, Fault(kind="syntax", message="The reply held no Python program.")
)


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("source", [MISREAD, NAMED, "print(nothing)\n"])
def test_every_way_asks_for_the_whole_program(mode, source):
    turns = correction(RepairCase(attempt(source), TOOLS, complete=model("list_flights")), mode)
    assert [turn.role for turn in turns] == ["assistant", "user"] * (len(turns) // 2)
    assert turns[0].content == f"```python\n{source}```"
    assert turns[-1].content.endswith("Reply with one ```python block and nothing else.")
    assert "Write the whole program again" in turns[-1].content
    for turn in turns[1:]:  # nothing that could be taken for a program
        assert "\n```" not in turn.content
        assert "class " not in turn.content


def test_facts_name_line_keys_and_readable_values():
    message = told(MISREAD)
    assert "Line 3 is `print(f['delay'])`." in message
    assert "its keys are flight_id, number" in message
    assert 'With page = list_flights(origin="JFK", date="2013-01-01") these can be read:' in message
    assert '  page["flights"][0]["carrier"] is \'UA\'' in message
    assert "The signature of list_flights is `def list_flights(*, origin: str, date" in message
    assert message.count("its keys are") == 1
    assert "The nearest key to 'delay' is 'dep_delay'." in message


def test_only_defined_tools_are_forbidden_to_define():
    own = "def get_plane(tail_number):\n    return {}\n" + MISREAD
    assert "call it, do not define it" not in told(MISREAD)
    source = own + "print(get_plane(tail_number='N14228')['owners'])\n"
    case = replace(attempt(MISREAD), program=Program(source))
    message = correction(RepairCase(case, TOOLS))[-1].content
    assert "The signature of list_flights is" in message
    tool = documentation(TOOLS["get_plane"], Program(source), among=TOOLS)
    assert "get_plane is defined already, as `def get_plane(*, tail_number: str)`" in tool


def test_facts_say_a_checked_program_never_ran():
    message = told(
        "p = get_plane(tail_number='N14228')\nprint(p['owner_name'], get_planes())\n", checked=True
    )
    assert "checked and not run" in message
    assert "- Line 2, `print(p['owner_name'], get_planes())`:" in message
    assert "Did you mean 'owner'?" in message
    assert 'result["owner"]["country"]: str' in message


def test_facts_name_the_search_for_an_id():
    message = told(NAMED)
    assert (
        "- 'origin' of list_flights takes what `search_airports(query='New York')[0][\"code\"]` gives."
        in message
    )
    assert "The signature of search_airports is `def search_airports(*, query: str)`." in message


def test_facts_name_the_origin_of_a_useless_id():
    source = (
        "d = list_flights(origin='Paris', date='2013-01-01')\nprint(d['flights'][0]['carrier'])\n"
    )
    trace = trace_of(source.replace("Paris", "ORD"))
    trace = replace(
        trace, calls=(replace(trace.calls[0], arguments={"origin": "Paris", "date": "2013-01-01"}),)
    )
    program = Program(source)
    case = Attempt(program, (), trace, attribute(program, (), trace, TOOLS))
    assert case.fault.kind == "empty_result"
    message = correction(RepairCase(case, TOOLS))[-1].content
    assert (
        "- 'origin' of list_flights takes what `search_airports(query='Paris')[0][\"code\"]` gives."
        in message
    )
    assert "'date' of list_flights takes" not in message


def test_without_a_culprit_all_results_are_shown():
    source = "page = list_flights(origin='JFK', date='2013-01-01')\nprint({'UA': 1}['AA'])\n"
    assert "The calls so far:\nlist_flights(" in told(source, made=attempt(source).calls)


def test_a_missing_program_is_asked_for():
    turns = correction(RepairCase(EMPTY, TOOLS))
    assert turns[0].content == "(no program)"
    assert "no Python program" in turns[1].content
    assert "do not define them" in turns[1].content


@pytest.mark.parametrize("mode", WAYS)
def test_writes_that_happened_are_named_in_every_way(mode):
    made = ToolCall(
        index=0,
        tool="book_seat",
        arguments={"flight_id": "UA-1545", "seat": "1A"},
        line=1,
        result={"booking": {"id": "BK-77", "flight_id": "UA-1545", "seat": "1A"}},
    )
    lost = replace(
        made,
        arguments={"flight_id": "UA-1714", "seat": "2B"},
        outcome="unknown",
        result=None,
        error="503",
    )
    message = told(MISREAD, mode=mode, complete=model("list_flights"), orphans=(made, lost))
    assert 'book_seat(flight_id="UA-1545", seat="1A") gave {"booking": {"id": "BK-77"' in message
    assert 'book_seat(flight_id="UA-1714", seat="2B"), of which nobody knows' in message
    assert "keep it exactly as it is" in message
    assert "it will not be sent again" in message
    assert "BK-77" not in told(MISREAD, mode=mode, complete=model("list_flights"))


def test_reflection_shows_the_named_tools_documentation():
    complete = model("The error comes from `get_plane`, I think.")
    case = RepairCase(
        attempt(MISREAD), TOOLS, complete=complete, messages=[Message("user", "task")]
    )
    turns = correction(case, "reflection")
    (asked, _), *more = complete.asked
    assert not more
    assert [turn.content for turn in asked] == ["task", turns[0].content, turns[1].content]
    assert "    print(f['delay'])\nKeyError: 'delay'" in turns[1].content
    assert "One of: list_flights" in turns[1].content
    assert turns[2] == Message("assistant", "get_plane")
    assert documentation(TOOLS["get_plane"], Program(MISREAD), among=TOOLS) in turns[3].content
    assert "flight_id" not in turns[3].content  # what the facts know is not told


def test_traceback_is_what_python_prints():
    source = "def inner(n):\n    return n / 0\n\n\ndef outer():\n    return inner(1)\n\n\nprint(outer())\n"
    linecache.cache["program.py"] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        "program.py",
    )
    try:
        exec(compile(source, "program.py", "exec"), {})
    except Exception as error:
        lines = traceback.format_exception(type(error), error, error.__traceback__.tb_next)
    finally:
        del linecache.cache["program.py"]
    printed = [line for line in "".join(lines).splitlines() if set(line) - set(" ^~")]
    assert "\n".join(printed) in told(source, mode="traceback")
    assert "keys" not in told(source, mode="traceback")


def test_traceback_of_what_has_none():
    assert "printed nothing" in told("x = 1\n", mode="traceback")
    finding = told("print(get_planes())\n", mode="traceback", checked=True)
    assert "   1 | print(get_planes())\n             ^^^^^^^^^^" in finding
    assert "no Python program" in correction(RepairCase(EMPTY, TOOLS), "traceback")[-1].content


def test_shown_values_are_nearest_to_the_fault():
    tool = Tool(protocol=ToolProtocol(name="wide"), call=print)
    result = {
        "head": {f"h{n}": n for n in range(40)},
        "tail": [{"deep": {"key": "here", "none": None}}],
    }
    call = ToolCall(index=0, tool="wide", arguments={}, line=1, result=result)
    lines = list(seen_fields(Program("x = wide()\n"), call, tool, near="tail[0].deep.keys"))
    assert '  x["tail"][0]["deep"]["key"] is \'here\'' in lines
    assert '  x["tail"][0]["deep"]["none"] is None' in lines
    assert lines[-1] == "  … and 18 more"


def test_shortened_responses_keep_secrets_from_the_prompt():
    tool = Tool(protocol=ToolProtocol(name="log_in"), call=print)
    result = {
        "token": "t" * 20,
        "refresh_token": "r" * 60,
        "key": {"private_key": "k" * 900},
        "note": "n" * 900,
    }
    call = ToolCall(index=0, tool="log_in", arguments={}, line=1, result=result)
    tools = Toolbox([tool])
    redact = Redactor(tools)
    redact.learn_call(call, 0)
    for text in (
        "\n".join(seen_fields(Program(""), call, tool)),
        describe_writes([call]),
        format_results([call], tools, most=200),
        format_results([call], tools, most=60),
    ):
        shown = redact(text)
        assert "redacted-str-20" in shown
        assert not {"ttt", "rrr", "kkk"} & {shown[i : i + 3] for i in range(len(shown))}
    assert "n" * 20 in redact("\n".join(seen_fields(Program(""), call, tool)))


def test_a_repeated_fault_gets_a_working_call():
    first = attempt(MISREAD)
    again = attempt(MISREAD.replace("f['delay']", "f['delay'], f['x']"))
    case = RepairCase(again, TOOLS, earlier=[first], made=first.calls)
    once = correction(RepairCase(again, TOOLS, made=first.calls))[-1].content
    message = correction(case)[-1].content
    assert "fails like an earlier one" in message
    assert 'result = list_flights(origin="JFK", date="2013-01-01")' in message
    assert 'result["flights"][0][' in message
    assert len(message) < len(once)


def test_without_a_working_call_the_facts_stay():
    source = "page = list_flights(origin='XXX', date='2013-01-01')\nprint(page['total'])\n"
    failed = attempt(source)
    message = correction(RepairCase(failed, TOOLS, earlier=[failed], made=failed.calls))[-1].content
    assert "fails like an earlier one" not in message
