"""From samples to a protocol: what is declared stays, what was seen is added, values and secrets are not told."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.document import document
from probing.document.secrets import Telling
from probing.effects.known import Effects
from probing.facts import learn
from probing.links import ObservedLink
from probing.sample import Origin, Sample, Value
from probing.teacher.instance import Instance
from probing.teacher.words import Words
from protocols.placeholder import PLACEHOLDER
from protocols.protocol import (
    Annotations,
    ErrorOutcome,
    Example,
    HttpBinding,
    Link,
    ToolProtocol,
    Verify,
    dump,
    load,
)
from protocols.schema import violations

TOKEN = "ghp_abcdefghijABCDEFGHIJ0123456789abcdef"
BARE = ToolProtocol(
    name="get_user",
    input_schema={"type": "object", "properties": {"user_id": {"type": "string"}}},
    annotations=Annotations(read_only=True),
    binding=HttpBinding(method="GET", url="https://api.example.org/users/{user_id}"),
)


def done(number, response, origin="response", **arguments):
    values = {name: Value(value, Origin(kind=origin)) for name, value in arguments.items()}
    return Sample(number=number, tool="get_user", arguments=values, response=response)


def refused(number, status, detail, answer=None, **arguments):
    values = {name: Value(value, Origin(kind="generated")) for name, value in arguments.items()}
    body = json.dumps({"detail": detail}) if answer is None else answer
    return Sample(
        number=number, tool="get_user", arguments=values, outcome="refused", status=status, error=detail, answer=body
    )


def told(*samples, protocol=BARE, **options):
    return document(learn(protocol, samples), **options)


USER = {"user_id": "u-117", "name": "Ada Lovelace", "age": 36, "admin": False, "boss": None, "api_key": TOKEN}


def test_a_bare_tool_gets_schemas_evidence_and_an_example():
    found = told(done(1, USER, user_id="u-117"), done(2, {**USER, "age": 40.5}, user_id="u-2"))
    assert not violations(found.output_schema, USER)
    assert found.evidence.level == "observed"
    assert found.evidence.observations == 2
    assert found.evidence.fields["age"] == 2
    assert found.examples
    assert load(json.loads(json.dumps(dump(found)))) == found


def test_values_are_told_as_placeholders_of_type_and_length():
    example = told(done(1, USER, user_id="u-117")).examples[0]
    assert example.arguments["user_id"] == example.result["user_id"]  # equal values, equal placeholders
    assert PLACEHOLDER.fullmatch(example.result["name"])
    assert example.result["name"].startswith("[redacted-str-12-")
    assert example.result["age"].startswith("[redacted-int-2-")
    assert (example.result["admin"], example.result["boss"]) == (False, None)
    assert "Ada" not in json.dumps(dump(told(done(1, USER, user_id="u-117"))))


def test_values_are_kept_where_that_is_wanted_and_secrets_never():
    found = told(done(1, USER, user_id="u-117"), keep_values=True)
    assert found.examples[0].arguments == {"user_id": "u-117"}
    assert found.examples[0].result["name"] == "Ada Lovelace"
    assert TOKEN not in json.dumps(dump(found))
    assert PLACEHOLDER.fullmatch(found.examples[0].result["api_key"])


@pytest.mark.parametrize("origin", ["given", "enum", "error", "generated"])
def test_arguments_that_are_nobodys_data_are_told(origin):
    assert told(done(1, USER, origin, user_id="u-117")).examples[0].arguments == {"user_id": "u-117"}


def test_a_secret_that_was_given_is_told_nowhere():
    protocol = ToolProtocol(
        name="get_user",
        input_schema={"type": "object", "properties": {"token": {"type": "string"}}},
        binding=BARE.binding,
    )
    echoed = refused(2, 403, f"the token {TOKEN} is spent", token=TOKEN)
    found = told(done(1, {"note": f"signed in with {TOKEN}"}, "given", token=TOKEN), echoed, protocol=protocol)
    kept = told(
        done(1, {"note": f"in with {TOKEN}"}, "given", token=TOKEN), echoed, protocol=protocol, keep_values=True
    )
    assert TOKEN not in json.dumps([dump(found), dump(kept)])


def test_keys_that_are_data_are_values_too():
    protocol = ToolProtocol(
        name="get_user",
        output_schema={"type": "object", "properties": {"by_mail": {"additionalProperties": {"type": "integer"}}}},
        binding=BARE.binding,
    )
    found = told(done(1, {"by_mail": {"ada@example.org": 3}}), protocol=protocol)
    assert "ada@example.org" not in json.dumps(found.examples[0].result)
    assert list(found.examples[0].result) == ["by_mail"]


def test_long_lists_and_texts_are_cut():
    result = told(done(1, {"rows": list(range(50)), "text": "x" * 5000}), keep_values=True).examples[0].result
    assert len(result["rows"]) == 2
    assert len(result["text"]) == 200


def test_what_was_declared_stays():
    declared = ToolProtocol(
        name="get_user",
        title="User",
        description="One user.",
        input_schema={"type": "object", "properties": {"user_id": {"type": "string", "description": "whose"}}},
        output_schema={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "full"}, "fax": {"type": "string"}},
        },
        annotations=Annotations(read_only=True),
        binding=BARE.binding,
        errors=(ErrorOutcome(status="404", description="Nobody."), ErrorOutcome(status="5XX")),
        examples=(Example(arguments={"user_id": "u-1"}, result={"name": "A"}),),
        links=(Link(argument="user_id", tool="list_users", path="users[].id", support="declared"),),
        verified_by=Verify(tool="x"),
    )
    words = Words(description="no", arguments={"user_id": "no"}, fields={"name": "no", "age": "in years"})
    found = told(done(1, USER, user_id="u-117"), refused(2, 404, "gone", user_id="u-9"), protocol=declared, words=words)
    assert (found.title, found.description, found.verified_by) == ("User", "One user.", Verify(tool="x"))
    assert found.parameters["user_id"]["description"] == "whose"
    properties = found.output_schema["properties"]
    assert properties["name"]["description"] == "full"
    assert properties["age"]["description"] == "in years"
    assert "fax" in properties
    assert [(e.status, e.description) for e in found.errors[:1]] == [("404", "Nobody.")]
    assert found.examples[0] == declared.examples[0]
    assert found.links == declared.links
    assert not violations(found.output_schema, {"name": "B", "fax": "1"})


def test_a_tool_that_never_answered_says_how_it_refused_and_no_more():
    found = told(refused(1, 422, "user_id: no such thing as 'zzz'", user_id="zzz"))
    assert found.output_schema is None
    assert found.evidence == BARE.evidence
    assert [error.status for error in found.errors] == ["422"]
    assert found.examples == ()


def test_errors_say_when_by_their_own_words_without_values():
    found = told(
        done(1, USER, user_id="u-117"),
        refused(2, 418, "I brew no tea for u-55 and 'Grace Hopper'", user_id="u-55"),
        refused(3, 500, "Internal Server Error", answer="<h1>oops</h1>", user_id="u-1"),
        Sample(number=4, tool="get_user", outcome="unknown", error="timed out"),
        Sample(number=5, tool="get_user", outcome="refused", error="ValueError: no city {x}"),
        refused(6, 200, "a login page came"),
    )
    errors = {error.status: error for error in found.errors}
    assert list(errors) == ["418", "500", "default"]
    assert errors["418"].description == "The reply says “I brew no tea for {user_id} and '…'”."
    assert errors["418"].schema["properties"] == {"detail": {"type": "string"}}
    assert errors["500"].schema is None
    assert errors["default"].description.startswith("It raises “ValueError")


def test_links_that_calls_showed_are_those_of_this_tool():
    def observed(consumer, path, support="observed"):
        link = Link(argument="user_id", tool="list_users", path=path, support=support)
        return ObservedLink(consumer=consumer, link=link, accepted=2, refused=0, elsewhere="refused")

    found = told(
        done(1, USER, user_id="u-117"),
        links=[observed("get_user", "users[].id"), observed("other", "x"), observed("get_user", "ids[]", "guessed")],
    )
    assert [(link.path, link.support) for link in found.links] == [("users[].id", "observed"), ("ids[]", "guessed")]


def test_effects_become_annotations():
    annotations = Annotations(read_only=False, destructive=True, idempotent=True)
    effects = Effects(annotations=annotations, verified_by=Verify(tool="list_users", support="observed"))
    found = told(done(1, None), effects=effects)
    assert found.annotations == annotations
    assert found.verified_by == Verify(tool="list_users", support="observed")


def test_an_instance_gives_question_and_program_without_values():
    instance = Instance(
        tool="get_user",
        round=0,
        question="How old is u-117?",
        program='print(get_user(user_id="u-117")["age"])',
        samples=(1,),
        worked=True,
    )
    sample = done(1, USER, "model", user_id="u-117")
    hidden = told(sample, instances=[instance]).examples[0]
    assert "u-117" not in hidden.question + hidden.program
    assert str(hidden.arguments["user_id"]) in hidden.program
    assert told(sample, instances=[instance], keep_values=True).examples[0].question == "How old is u-117?"


def test_an_enum_of_secrets_is_no_enum():
    facts = learn(BARE, [])
    telling = Telling(facts, keep_values=True)
    schema = {
        "properties": {
            "api_key": {"type": "string", "enum": [TOKEN, "k9Xw2mQp8Lz4Rt7Vb1"]},
            "state": {"type": "string", "enum": ["open", "done"]},
        }
    }
    cleaned = telling.schema(schema, declared=None)
    assert cleaned["properties"]["api_key"] == {"type": "string"}
    assert cleaned["properties"]["state"]["enum"] == ["open", "done"]
    assert telling.schema(schema, declared=schema) == schema


TEXTS = st.text(string.ascii_letters + string.digits + " é'\"{}[]\\\n", max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=4), st.booleans())
def test_any_responses_give_a_protocol_that_loads_again_and_holds_them(responses, keep):
    samples = [done(number, response, user_id=f"u{number}") for number, response in enumerate(responses, start=1)]
    found = told(*samples, refused(9, 404, "no 'x'"), keep_values=keep)
    assert load(json.loads(json.dumps(dump(found)))) == found
    assert all(not violations(found.output_schema, response) for response in responses)


@settings(max_examples=60, deadline=None)
@given(st.text(string.ascii_lowercase, min_size=7, max_size=12), VALUES)
def test_no_text_of_a_response_is_told_unless_the_schema_lists_it(word, rest):
    response = {"word": word, "rest": rest, "list": [word, {"deep": word}]}
    example = told(done(1, response, user_id=word)).examples[0]
    assert word not in json.dumps([example.result, example.arguments], ensure_ascii=False)
