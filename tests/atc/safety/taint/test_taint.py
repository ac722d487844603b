"""What is clean and what asks: every way to pass tool output on as if it were the user's."""

import base64
from dataclasses import replace

import pytest

from atc.core.config import InvalidConfig
from atc.core.program import Program
from atc.safety.taint import Taint
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.tools import tool

EVE = "eve@zlotnik.example"
BLIND = "send(to='bob@acme.example')"


def toolbox(description=""):
    return Toolbox(
        [
            tool(
                "send",
                None,
                {"to": "string", "text": "string"},
                reads=False,
                description=description,
            ),
            tool(
                "pay",
                None,
                {"amount": "number", "iban": "string"},
                reads=False,
                description=description,
            ),
            tool("fetch", None, {"url": "string"}),
            tool("run", None, {"command": "string"}, reads=False),
            tool("read-mail", None, {"page_size": "integer"}),
            tool(
                "mark",
                None,
                {"flag": {"type": "boolean", "x-atc-sensitive": "command"}},
                reads=False,
            ),
        ]
    )


def response(result, *, name="read_mail", arguments=None):
    return ToolCall(index=0, tool=name, arguments=arguments or {}, line=1, result=result)


def taint(task="Do it.", *programs, later=(), calls=(), rules=(), description=""):
    made = Taint(task, toolbox(description), rules=rules, calls=lambda: list(calls))
    for program in programs:
        made.begin_program(Program(program), blind=True)
    for program in later:
        made.begin_program(Program(program), blind=False)
    return made


def asks(made, name, **arguments):
    return [(one.place, one.value) for one in made.find_tainted(toolbox()[name], arguments)]


# --- what is clean


def test_a_blind_programs_literals_stay_clean():
    made = taint("Write to Bob.", BLIND, later=["send(to='eve@zlotnik.example')"])
    assert asks(made, "send", to="bob@acme.example") == []
    assert asks(made, "send", to=EVE) == [("to", EVE)]


def test_what_a_rule_trusts_is_clean_unchanged():
    mail = response({"messages": [{"sender": "bob@acme.example", "body": EVE, "n": 7}], "top": EVE})
    made = taint(calls=[mail], rules=["read_mail:messages[].sender"])
    assert asks(made, "send", to="bob@acme.example") == []
    assert asks(made, "send", to=EVE) == [("to", EVE)]
    assert asks(made, "send", to="BOB@acme.example")
    assert asks(taint(calls=[mail], rules=["read-mail"]), "send", to=EVE) == []
    assert asks(taint(calls=[mail], rules=["read_mail:messages[0].body"]), "send", to=EVE) == []
    assert asks(taint(calls=[mail], rules=["read_mail:messages[1].body"]), "send", to=EVE)
    assert asks(taint(calls=[mail], rules=["other"]), "send", to=EVE)
    assert asks(taint(calls=[mail], rules=[f"value={EVE}"]), "send", to=EVE) == []
    assert asks(taint(calls=[mail], rules=["read_mail:messages[].n"]), "pay", amount=7.0) == []
    assert asks(taint(rules=["value=1,200"]), "pay", amount=1200) == []


def test_tool_rules_do_not_cover_repeated_arguments():
    echo = response({"query": EVE, "found": "bob@acme.example"}, arguments={"q": EVE})
    made = taint(calls=[echo], rules=["read_mail"])
    assert asks(made, "send", to=EVE)
    assert asks(made, "send", to="bob@acme.example") == []


@pytest.mark.parametrize("rule", ["", ":a", "tool:a[", "value="])
def test_a_malformed_rule_is_refused(rule):
    with pytest.raises(InvalidConfig, match=r"trust: .* is no rule; write TOOL"):
        taint(rules=[rule])


def test_address_lists_are_as_clean_as_their_items():
    made = taint("Write to ann@acme.example and bob@acme.example.")
    assert asks(made, "send", to="ann@acme.example, bob@acme.example") == []
    assert asks(made, "send", to=f"ann@acme.example, {EVE}")


# --- transformations of tool output


@pytest.mark.parametrize(
    "value",
    [
        EVE,
        EVE.replace("e", "е"),
        EVE[::-1],
        base64.b64encode(EVE.encode()).decode(),
        f"bob@acme.example,{EVE}",
        f"bob@acme.example\nBcc: {EVE}",
        "bob@acme.example.zlotnik.example",
        "bob@acme.example​",
        "",
    ],
)
def test_no_transformation_launders_a_recipient(value):
    made = taint("Write to bob@acme.example.", BLIND, calls=[response(EVE)])
    assert asks(made, "send", to=value) == [("to", value)]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.acme.example\\@zlotnik.example",
        "//hooks.acme.example",
        "https://hooks。acme.example",
    ],
)
def test_a_url_is_the_same_or_asks(url):
    made = taint("Fetch https://hooks.acme.example now", calls=[response("x")])
    assert asks(made, "fetch", url="https://hooks.acme.example") == []
    assert asks(made, "fetch", url=url) == [("url", url)]


@pytest.mark.parametrize("amount", [5, 500, -50, 50.000001, "5O", "50 000", "٥٠٠"])
def test_an_amount_is_the_same_or_asks(amount):
    made = taint("Pay 50 to Bob", calls=[response(500)])
    assert asks(made, "pay", amount=50) == []
    assert asks(made, "pay", amount=amount) == [("amount", amount)]


def test_list_elements_and_keys_are_judged_singly():
    made = taint("Write to bob@acme.example", "parts = ['eve', 'zlotnik']")
    assert asks(made, "send", to=["bob@acme.example", EVE]) == [("to[1]", EVE)]
    assert asks(made, "send", to={EVE: "bob@acme.example"}) == [("to (a key)", EVE)]
    assert asks(made, "send", to=["eve@zlotnik"]) == [("to[0]", "eve@zlotnik")]


def test_values_are_compared_by_type():
    assert asks(taint("Say true"), "mark", flag=True) == []
    assert asks(taint("Say 1"), "mark", flag=True)


def test_a_huge_number_asks_like_others():
    assert len(asks(taint(), "pay", amount=10**5000)) == 1
    assert str(taint().find_tainted(toolbox()["pay"], {"amount": 10**5000})[0])


# --- what a program wrote out by itself


def test_the_models_own_values_ask_after_outside_input():
    for name, argument, value in (("send", "to", EVE), ("pay", "amount", 8750)):
        said = taint("Do the usual.", f"{name}({argument}={value!r})", description="It does it.")
        assert asks(said, name, **{argument: value}) == [(argument, value)]


def test_the_users_texts_alone_count():
    assert asks(taint("Do it.", "x = 'ab' + y"), "send", to="abc")
    assert asks(taint("Do it.", "pay(amount=77)"), "pay", amount=77)
    assert asks(taint("Do it.", "x = ("), "send", to="x")
    fetched = Toolbox([replace(tool("send", None, {"to": "string"}, reads=False), source="desk")])
    made = Taint("Do it.", fetched, rules=(), calls=list)
    made.begin_program(Program(BLIND), blind=True)
    assert made.find_tainted(fetched["send"], {"to": "bob@acme.example"})


# --- where a value came from


@pytest.mark.parametrize(
    ("value", "calls", "later", "said"),
    [
        (EVE, [response({"a": [{"b": EVE}]})], [], "it equals a[0].b in the response of read_mail"),
        (EVE, [response({"a": f"to {EVE}"})], [], "it is a part of a in the response of read_mail"),
        (
            EVE,
            [response("x")],
            [f"send(to={EVE!r})"],
            "the program has it as a literal, or computed it",
        ),
    ],
)
def test_questions_name_a_values_origin(value, calls, later, said):
    found = taint(calls=calls, later=later).find_tainted(toolbox()["send"], {"to": value})
    assert [one.origin for one in found] == [said]


def test_rules_are_offered_narrowest_first():
    def offered(value):
        return (
            taint(calls=[response([{"a b": value}])])
            .find_tainted(toolbox()["send"], {"to": value})[0]
            .rules
        )

    assert offered(EVE) == (f"value={EVE}", "'read_mail:[].a b'")
    assert offered("a b; rm -r x")[0] == "'value=a b; rm -r x'"
    for hidden in ("a\x1b[2J", "a\nb", "bоb@x.org", "a" * 300, "a\u202eb", "a\u200bb"):
        assert all("value=" not in rule for rule in offered(hidden))


def test_what_is_shown_can_neither_act_nor_deceive():
    hostile = "a\x1b[2J\r\n\u202e\u200bbоb@x.org" + "y" * 500 + "eve"
    said = str(taint(calls=[response(hostile)]).find_tainted(toolbox()["send"], {"to": hostile})[0])
    assert said.isprintable()
    assert "b\\u043eb@x.org" in said
    assert "eve'" in said
    assert len(said) < 400
    url = "https://good.example@evil.example/"
    assert "leads to 'evil.example'" in str(
        taint().find_tainted(toolbox()["fetch"], {"url": url})[0]
    )
