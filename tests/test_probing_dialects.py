"""Error replies in the styles of many frameworks, read into hints: what a careful engineer reads, and no more."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.dialects import hints
from probing.hint import Hint
from probing.sample import Origin, Sample, Value

REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "error_replies.jsonl").read_text(encoding="utf-8").splitlines()
]
"""`hints`: what is to be read, as `spelled` writes it; `also`: what may be; `missed`: what is known to be missed."""


def sample(answer=None, *, status=422, error="", tool="flights", outcome="refused", sent=None, **more):
    text = answer if answer is None or isinstance(answer, str) else json.dumps(answer)
    arguments = {name: Value(value, Origin(kind="generated")) for name, value in {**(sent or {}), **more}.items()}
    return Sample(number=1, tool=tool, arguments=arguments, outcome=outcome, status=status, answer=text, error=error)


def read(answer=None, names=(), **keywords):
    made = sample(answer, **keywords)
    return hints(made, {name: name for name in [*names, *made.arguments]})


def spelled(hint):
    """A hint as the corpus writes it: `range:limit=[1,50]`."""
    name = hint.argument or "-"
    match hint.kind:
        case "missing" | "unknown" | "not_found" | "refused":
            return f"{hint.kind}:{name}"
        case "type":
            said = "|".join(hint.types)
        case "enum" | "example" | "default":
            said = json.dumps(list(hint.values))
        case "range" | "length":
            low, high = ("" if bound is None else f"{bound:g}" for bound in (hint.minimum, hint.maximum))
            said = f"{'(' if hint.exclusive_minimum else '['}{low},{high}{')' if hint.exclusive_maximum else ']'}"
        case "pattern" | "format":
            said = hint.pattern or hint.format
        case "source":
            said = hint.tool
        case _:
            said = ",".join(hint.others)
    return f"{hint.kind}:{name}={said}"


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["style"])
def test_a_reply_says_what_an_engineer_reads_from_it(reply):
    made = sample(reply.get("answer"), status=reply["status"], error=reply.get("error", ""), sent=reply["sent"])
    found = {spelled(hint) for hint in hints(made, {name: name for name in reply["names"]})}
    missed = set(reply.get("missed", ()))
    assert found - set(reply.get("also", ())) - missed == set(reply["hints"]) - missed - set(reply.get("also", ()))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 405, 415])
def test_an_answer_that_is_not_about_arguments_says_nothing(status):
    assert read({"detail": "limit must be at most 50; city is required"}, status=status, limit=99) == ()


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_door_tells_only_where_the_key_is(status):
    found = read({"detail": "token is required; get a token from open_session"}, names=["token"], status=status)
    assert [spelled(hint) for hint in found] == ["source:token=open_session"]


def test_a_call_that_is_done_says_nothing():
    assert read({"detail": "limit must be at most 50"}, outcome="done", status=None, limit=5) == ()


def test_names_are_found_by_wire_name_and_in_any_case():
    made = sample({"errors": {"Start-Date": ["can't be blank"], "startDate": ["is invalid"]}})
    assert [spelled(h) for h in hints(made, {"start-date": "start_date", "start_date": "start_date"})] == [
        "missing:start_date"
    ]


def test_two_arguments_that_differ_by_case_are_told_apart():
    assert [spelled(h) for h in read({"detail": "'ID' is required"}, names=["id", "ID"])] == ["missing:ID"]


@pytest.mark.parametrize(
    ("place", "argument"),
    [
        (["body", "filter", "x"], "refused:filter"),
        (["body", "tags", 0], "refused:tags"),
        (["query", "limit"], "type:limit=integer"),
        (["body", "request", "limit"], "type:limit=integer"),
        (["body", "who", "knows"], None),
    ],
)
def test_what_lies_inside_an_argument_is_not_said_of_the_argument(place, argument):
    found = read({"detail": [{"loc": place, "msg": "Input should be a valid integer"}]}, ["filter", "tags", "limit"])
    assert [spelled(hint) for hint in found] == ([argument] if argument else [])


@pytest.mark.parametrize(
    "answer",
    [
        {"detail": [{"loc": ["query", "region"], "msg": "Field required", "type": "missing"}]},
        {"region": ["This field is required."]},
        {"message": "missing required parameter 'region'"},
        {"message": '"region" is required'},
        "param is missing or the value is empty: region",
        "tool() missing 1 required keyword-only argument: 'region'",
    ],
)
def test_an_argument_that_nobody_described_is_told(answer):
    assert [spelled(hint) for hint in read(answer, names=["city"])] == ["missing:region"]


@pytest.mark.parametrize(
    "answer",
    [
        {"errors": [{"instancePath": "/address", "params": {"missingProperty": "city"}, "keyword": "required"}]},
        {"message": "body/address must have required property 'city'"},
        {"detail": [{"loc": ["body", "address", "city"], "msg": "Field required", "type": "missing"}]},
    ],
)
def test_what_is_missing_inside_an_argument_is_no_argument(answer):
    assert [spelled(hint) for hint in read(answer, names=["address"])] == ["refused:address"]


@pytest.mark.parametrize(
    "text",
    [
        "At least one of name, birth_date, phone must be supplied",
        "either name or birth_date or phone is required",
        "Neither name nor birth_date nor phone was given",
    ],
)
def test_one_of_several_arguments_is_needed(text):
    found = read({"message": text}, names=["name", "birth_date", "phone"])
    assert [spelled(hint) for hint in found] == ["any_of:-=name,birth_date,phone"]


def test_a_server_that_lets_its_own_signature_out_is_read():
    text = "TypeError: compute() missing 2 required positional arguments: 'x' and 'inner'"
    assert [spelled(hint) for hint in read(text, names=["x", "y"], status=500)] == ["missing:x"]


def test_the_same_fact_has_the_same_words_whatever_was_sent():
    words = {
        hint.text
        for value in ("abc", "zzz", "q")
        for hint in read(
            {"detail": f"'{value}' is not one of ['a', 'b']; limit must be 5 or less, got {value!r}"}, limit=value
        )
    }
    assert words == {"'…' is not one of ['a', 'b']", "limit must be 5 or less"}


def test_values_are_listed_in_any_language():
    answer = {"fehler": "'art' muss einer der folgenden Werte sein: kurz, lang, voll"}
    assert [spelled(hint) for hint in read(answer, art="x")] == ['enum:art=["kurz", "lang", "voll"]']


@pytest.mark.parametrize(
    "text",
    [
        "Authentication is required",
        "JSON body required",
        "Something is missing",
        "required",
        "A subscription is required for this endpoint",
        "Service unavailable: maintenance is required between 1 and 3",
        "an unknown error occurred",
        "unexpected token < in JSON at position 0",
        "No answer within 20 seconds",
        "could not connect to 127.0.0.1:8080 (connection refused)",
        "the answer is not JSON: expected valid JSON (Expecting value), got text/html: '<html>'",
        "this endpoint must be called over HTTPS",
        "See https://example.org/docs/errors for valid values: none, all",
    ],
)
def test_a_sentence_that_names_no_argument_says_nothing(text):
    assert read({"detail": text}, names=["city", "limit"], city="Paris") == ()


@pytest.mark.parametrize(
    "text",
    [
        "limit must be an integer when mode is 'fast'",
        "city is required if country is 'US'",
        "mode must be one of a, b, ... (5 more)",
    ],
)
def test_what_holds_in_some_cases_only_is_no_rule(text):
    found = read({"detail": text}, names=["city", "country"], limit="x", mode="y")
    assert not {"type", "enum", "missing"} & {hint.kind for hint in found}


def test_the_text_of_a_hint_is_the_clause_that_says_so():
    found = read({"detail": "limit must be at most 50. sort must be one of asc, desc."}, limit=99, sort="x")
    assert [hint.text for hint in found] == ["limit must be at most 50", "sort must be one of asc, desc."]
    (long,) = read({"detail": "limit must be at most 50 " + "x" * 900}, limit=99)
    assert len(long.text) <= 200


def test_each_fact_is_told_once():
    answer = {"detail": "limit must be at most 50", "errors": [{"field": "limit", "message": "must be at most 50"}]}
    assert len(read(answer, limit=99)) == 1


def test_a_value_that_is_quoted_back_is_no_rule():
    answer = {"detail": "bad input", "input": {"city": "city must be one of a, b"}, "value": "limit must be 5"}
    assert read(answer, city="city must be one of a, b", limit="limit must be 5") == ()


TOKENS = st.sampled_from([
    "limit", "city", "'limit'", '"city"', "must", "be", "one of", "a, b", "between", "1", "and", "50", "required",
    "missing",
    "argument", "unknown", "not", "both", "or", "is", "[", "]", "(", ")", "{", "}", "'", '"', "`", "|", ";", ". ",
    ":", "\n",
    "<p>", "&lt;", "%Y-%m-%d", "YYYY-MM-DD", "^[a-z]+$", "/^x/", "e.g.", "such as", "default", "got", "…", "x" * 50,
    "1,000",
    "KeyError: 'limit'", "[type=missing, input_value=", "1 validation error for X\n", "from", "get_token",
    "POST /locks",
    "call", "first", "requires", "at least", "characters", "é", "\ud800", "\0", "-", "=", "@", "$.limit", "body.city",
])  # fmt: skip
JSON_TEXT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.lists(TOKENS, max_size=8).map(" ".join),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from([
            "detail", "errors", "loc", "msg", "message", "path", "code", "type", "ctx", "field", "limit", "city",
            "params",
            "source", "pointer", "location", "name", "constraints", "expected", "values", "minimum", "pattern", "",
        ]),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


def check(found):
    assert all(isinstance(hint, Hint) and len(hint.text) <= 200 for hint in found)
    json.dumps([hint.text for hint in found]).encode()


@settings(max_examples=150, deadline=None)
@given(st.lists(TOKENS, max_size=60).map(" ".join), st.sampled_from([None, 400, 404, 422]))
def test_any_text_can_be_read(text, status):
    check(read(text, names=["limit", "city"], status=status, limit=text[:20] or 5))


@settings(max_examples=150, deadline=None)
@given(JSON_TEXT, st.sampled_from([None, 400, 404, 422]))
def test_any_document_can_be_read(document, status):
    check(read(json.dumps(document), names=["limit", "city"], status=status, limit=5))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"detail":' * 10_000,
        '{"a":' * 150 + '"limit must be 5"' + "}" * 150,
        "<" * 60_000,
        "'" * 60_000,
        "limit must be one of " + "a, " * 20_000,
        "limit must be between 1 and " * 2_500,
        "a" * 60_000,
        "^(a+)+$ " * 8_000,
        "time data 'x' does not match format '" * 1_800,
        json.dumps({"errors": ["a must be one of b, " * 40] * 80}),
        json.dumps({"detail": [{"loc": ["query", "limit"], "msg": "must be at most 5 " * 30}] * 120}),
        json.dumps({f"k{i}": {"limit": ["must be at most 5"]} for i in range(1_500)}),
        "limit must match " + "(" * 300,
        "limit must match ^" + "a{1,999}" * 40 + "$",
        '{"detail": ' + "9" * 60_000 + "}",
    ],
    ids=range(16),
)
def test_a_hostile_body_takes_bounded_time(text):
    started = time.process_time()
    check(read(text[:65_536], names=["limit", "a"], limit="x", a="y"))
    assert time.process_time() - started < 8


def test_a_pattern_that_is_none_is_not_told():
    kinds = {hint.kind for hint in read({"detail": "q must match ^[a-z"}, q="1")}
    assert "pattern" not in kinds


@pytest.mark.parametrize(
    ("text", "sent", "expected"),
    [
        (
            "Repository path '.' is outside the allowed repository '/srv/repo'",
            {"repo_path": "."},
            {'example:repo_path=["/srv/repo"]', "refused:repo_path"},
        ),
        (
            "Repository path 'example' is outside the allowed repository '/srv/repo'",
            {"repo_path": "example", "message": "test"},
            {'example:repo_path=["/srv/repo"]', "refused:repo_path"},
        ),
        (
            "Access denied - path outside allowed directories: /etc not in /srv/data",
            {"path": "/etc", "head": 2},
            {'example:path=["/srv/data"]', "refused:path"},
        ),
        ("Ref 'test' did not resolve to an object", {"target": "test", "lines": 3}, {"not_found:target"}),
        ("fatal: pathspec 'a.md' did not match any files", {"files": ["a.md"], "path": "."}, {"not_found:files"}),
        ("EISDIR: illegal operation on a directory, read", {"path": "/srv", "head": 2}, {"refused:path"}),
        (
            "ENOENT: no such file or directory, rename '/srv/a' -> '/srv/b'",
            {"source": "a", "destination": "b"},
            {"not_found:source"},
        ),
        ("[Errno 2] No such file or directory: '/srv/x.txt'", {"name": "x.txt", "n": 1}, {"not_found:name"}),
    ],
)
def test_what_is_said_of_paths_and_references(text, sent, expected):
    assert {spelled(hint) for hint in read(error=text, status=None, sent=sent)} == expected


def test_a_path_in_a_reply_is_taken_whole():
    hints_of = read(error="'x' or 'y' is no path; expected one of '/srv/a' or '/srv/b'", status=None, path="x")
    assert all(str(value).startswith("/") for hint in hints_of if hint.kind == "enum" for value in hint.values)
