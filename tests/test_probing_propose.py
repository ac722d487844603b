"""Candidates: from the right sources, in a sensible order, and never what is known to be wrong."""

import json
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.facts import ArgumentFacts, ToolFacts
from probing.fits import Fits
from probing.hint import Hint
from probing.pools import Pools
from probing.propose import candidates, quoted
from probing.sample import Origin, Sample, Value
from protocols.protocol import Example, HttpBinding, ToolProtocol
from protocols.schema import validator

MADE_UP = Origin(kind="generated")


def facts(argument, *samples, schema=None, examples=(), **root):
    protocol = ToolProtocol(
        name="consumer",
        input_schema={"type": "object", "properties": {argument.name: schema or {}}, **root},
        examples=examples,
        binding=HttpBinding(method="GET", url="https://a.example/consumer"),
    )
    return ToolFacts(protocol=protocol, samples=samples, arguments={argument.name: argument})


def argument(*hints, name="code", place="query", declared=None, **known):
    return ArgumentFacts(name=name, place=place, declared=declared or {}, hints=hints, **known)


def pools_of(response, tool="producer"):
    pools = Pools([ToolProtocol(name=tool, binding=HttpBinding(method="GET", url=f"https://a.example/{tool}"))])
    pools.add(Sample(number=1, tool=tool, response=response))
    return pools


def proposed(arg, count=8, pools=None, suggested=(), tool=None):
    made = candidates(tool or facts(arg, schema=arg.declared), arg, pools=pools, suggested=suggested)
    return list(islice(made, count))


def plain(*args, **options):
    return [value.value for value in proposed(*args, **options)]


def told(kind, **said):
    return Hint(kind=kind, argument="code", **said)


def test_sources_in_the_order_of_the_paper_and_each_with_its_origin():
    arg = argument(
        told("example", values=("Q-4",)), name="ticket_code", declared={"type": "string", "examples": ["Q-1"]}
    )
    pools = pools_of({"tickets": [{"code": "Q-2"}, {"code": "Q-3"}]})
    made = proposed(arg, pools=pools, suggested=["Q-5"])
    firsts = {}
    for value in made:
        firsts.setdefault(value.origin.kind, value.value)
    assert list(firsts) == ["given", "response", "error", "model", "generated"]
    assert [firsts[kind] for kind in ("given", "response", "error", "model")] == ["Q-1", "Q-2", "Q-4", "Q-5"]


def test_the_first_four_cover_the_sources():
    listed = tuple(f"E-{n}" for n in range(30))
    arg = argument(told("example", values=listed), name="ticket_code")
    pools = pools_of({"tickets": [{"code": f"P-{n}"} for n in range(30)]})
    first = proposed(arg, 4, pools=pools, suggested=[f"M-{n}" for n in range(30)])
    assert {value.origin.kind for value in first} >= {"response", "error"}
    assert "model" in {value.origin.kind for value in proposed(arg, 8, pools=pools, suggested=["M-1", "M-2"])}


def test_alone_means_without_the_values_of_others():
    arg = argument(name="ticket_code")
    assert "response" not in {value.origin.kind for value in proposed(arg, 50)}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A code such as 'BOS' or 'JFK'.", ["BOS", "JFK"]),
        ("The day, e.g. 2013-01-31.", ["2013-01-31"]),
        ('Unit (for example "metric", "imperial")', ["metric", "imperial"]),
        ("Example: `abc-1`", ["abc-1"]),
        ("ISO code, e.g. USD or EUR.", ["USD", "EUR"]),
        ("Like most things, it is a word.", []),
        ("", []),
    ],
)
def test_examples_in_a_sentence(text, values):
    assert quoted(text) == values


def test_given_values_come_from_everywhere_in_the_description():
    declared = {"type": "string", "default": "d", "description": "such as 'e'", "enum": ["x", "d", "e", "u"]}
    arg = argument(declared=declared)
    tool = facts(arg, schema=declared, examples=(Example(arguments={"code": "u"}),))
    made = [(value.value, value.origin.kind) for value in islice(candidates(tool, arg, pools=None), 4)]
    assert made == [("d", "given"), ("u", "given"), ("x", "enum"), ("e", "given")]


@pytest.mark.parametrize(
    ("arg", "refused"),
    [
        (argument(told("enum", values=("a", "b"))), "c"),
        (argument(told("type", types=("integer",))), "five"),
        (argument(told("range", minimum=1, maximum=5)), 6),
        (argument(told("range", minimum=1, exclusive_minimum=True)), 1),
        (argument(told("length", minimum=3, maximum=3)), "four"),
        (argument(told("pattern", pattern="^[A-Z]+$")), "abc"),
        (argument(told("format", format="date")), "yesterday"),
        (argument(told("format", format="date")), 20130131),
        (argument(told("length", minimum=3, maximum=3)), 1234),
        (argument(told("range", minimum=1, maximum=5), place="body"), "word"),
        (argument(told("enum", values=("1", "2")), told("type", types=("integer",)), place="body"), 3),
        (argument(told("unknown")), "anything"),
        (argument(declared={"type": "integer", "maximum": 3}), 4),
        (argument(declared={"$ref": "#/$defs/Small"}), 4),
        (argument(declared={"enum": ["a"]}), "b"),
        (argument(refused=(Value("a", MADE_UP),)), "a"),
        (argument(not_found=(Value(7, MADE_UP),)), "7"),
        (argument(place="path"), ".."),
    ],
)
def test_what_is_known_to_be_wrong_is_excluded(arg, refused):
    tool = facts(arg, schema=arg.declared, **{"$defs": {"Small": {"type": "integer", "maximum": 3}}})
    assert not Fits(tool, arg).allows(refused)
    made = candidates(tool, arg, pools=None, suggested=[refused])
    assert repr(refused) not in [repr(value.value) for value in islice(made, 40)]


@pytest.mark.parametrize(
    ("wanted", "given", "sent"),
    [
        ("integer", "41", 41),
        ("string", 41, "41"),
        ("array", "x", ["x"]),
        ("number", "4.5", 4.5),
        ("integer", "x", None),
    ],
)
def test_a_value_is_sent_in_the_type_that_is_wanted(wanted, given, sent):
    arg = argument(declared={"type": wanted}, place="body")
    adapted = Fits(facts(arg), arg).adapted(Value(given, MADE_UP))
    assert (adapted and adapted.value) == sent


ODD = ["\ud800", "a\x00b", "", " ", "x" * 5000, 10**300, float("nan"), float("inf"), -0.0, True, "2020-02-30"]
ODD += ["9999-12-31", "0000-00-00", "http://[bad/x/y", "/users/..", "/users/%00", "\ufdfa", "\uff11\uff12", "\u00b2"]


@pytest.mark.parametrize(
    "hint",
    [
        None,
        told("range", minimum=float("nan"), maximum=float("inf")),
        told("length", minimum=1e400),
        told("length", minimum=-3.5, maximum=1e15),
        told("format", format="no such format"),
        told("type", types=("banana",)),
        told("pattern", pattern="^a"),
    ],
)
@pytest.mark.parametrize("name", ["code", "item_id", "q", "date", "end_date", "cursor"])
def test_odd_values_and_odd_hints_break_nothing(name, hint):
    rows = [{"id": odd, "name": odd, "date": odd, "next": odd} for odd in ODD]
    pools = pools_of({"items": rows, "2020-01-01": 1, "": {"": 3}, "a.b": {"c": 1}, "x[0]": 2, "[]": [[1], [2]]})
    for value in plain(argument(*([hint] if hint else []), name=name), 80, pools=pools):
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def test_two_ranges_of_which_the_later_holds():
    arg = argument(told("range", minimum=10, maximum=20), told("range", minimum=0, maximum=5))
    assert Fits(facts(arg), arg).allows(3)


def test_a_schema_or_a_pattern_that_is_none_excludes_nothing():
    arg = argument(told("pattern", pattern="(["), declared={"type": "no such type"})
    assert Fits(facts(arg), arg).allows("anything")


def test_a_pattern_that_takes_forever_elsewhere_is_tried_in_no_time():
    arg = argument(told("pattern", pattern="^(a+)+$"))
    assert not Fits(facts(arg), arg).allows("a" * 200 + "!")


def test_what_failed_without_a_reason_comes_later():
    arg = argument(name="ticket_code")
    given = {"ticket_code": Value("Q-2", MADE_UP)}
    sample = Sample(number=2, tool="consumer", arguments=given, outcome="refused", status=400)
    tool = facts(arg, sample)
    pools = pools_of({"tickets": [{"code": "Q-2"}, {"code": "Q-3"}]})
    made = [value.value for value in islice(candidates(tool, arg, pools=pools), 6)]
    assert made.index("Q-3") < made.index("Q-2")


def test_what_took_an_id_is_not_given_words_and_numbers():
    taken = (Value("d-71", Origin(kind="response", tool="producer", path="documents[].id")),)
    assert plain(argument(name="document_id", place="path", accepted=taken)) == []
    taken = (Value(5, Origin(kind="error")),)
    assert {type(value) for value in plain(argument(name="limit", accepted=taken))} == {int}
    taken = (Value(5, MADE_UP),)
    assert "test" in plain(argument(name="limit", accepted=taken))


def test_what_led_nowhere_beside_another_value_comes_later_but_comes():
    arg = argument(name="ticket_id", not_found=(Value("Q-2", MADE_UP),))
    beside = {"ticket_id": Value("Q-2", MADE_UP), "show_id": Value("S-1", MADE_UP)}
    sample = Sample(number=2, tool="consumer", arguments=beside, outcome="refused", status=404)
    pools = pools_of({"tickets": [{"id": "Q-2"}, {"id": "Q-3"}]})
    show = ArgumentFacts(name="show_id")
    tool = ToolFacts(protocol=facts(arg).protocol, samples=(sample,), arguments={"ticket_id": arg, "show_id": show})
    made = [value.value for value in islice(candidates(tool, arg, pools=pools), 6)]
    assert made.index("Q-3") < made.index("Q-2")
    good = ArgumentFacts(name="show_id", accepted=(Value("S-1", MADE_UP),))
    tool = ToolFacts(protocol=tool.protocol, samples=(sample,), arguments={"ticket_id": arg, "show_id": good})
    assert "Q-2" not in [value.value for value in candidates(tool, arg, pools=pools)]


def test_in_a_url_1_and_its_text_are_one_value():
    arg = argument(name="ticket_id", place="path")
    made = plain(arg, 30, pools=pools_of({"tickets": [{"id": 1}], "ticket_id": "1"}))
    assert len({str(value) for value in made}) == len(made)


SCALARS = st.one_of(st.integers(-50, 50), st.text("ab1-", max_size=4), st.booleans(), st.floats(-9, 9))
HINTS = st.one_of(
    st.builds(Hint, kind=st.just("type"), types=st.just(("integer",)) | st.just(("string",)) | st.just(("number",))),
    st.builds(Hint, kind=st.just("enum"), values=st.lists(SCALARS, min_size=1, max_size=4).map(tuple)),
    st.builds(Hint, kind=st.just("range"), minimum=st.integers(-9, 0), maximum=st.integers(1, 9)),
    st.builds(Hint, kind=st.just("length"), minimum=st.integers(0, 2), maximum=st.integers(3, 5)),
    st.builds(Hint, kind=st.just("pattern"), pattern=st.sampled_from(["^a", "[0-9]", "^.{1,3}$", "([", "b$"])),
    st.builds(Hint, kind=st.just("format"), format=st.sampled_from(["date", "uuid", "email"])),
)
SCHEMAS = st.sampled_from([
    {},
    {"type": "integer", "minimum": 0},
    {"type": "string", "maxLength": 3},
    {"type": ["string", "null"]},
    {"enum": [1, "a", True]},
    {"type": "array", "items": {"type": "integer"}},
])  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(["ticket_id", "q", "date", "limit", "x"]),
    st.sampled_from(["path", "query", "body", "value"]),
    st.lists(HINTS, max_size=2),
    SCHEMAS,
    st.lists(SCALARS, max_size=3),
    st.lists(SCALARS, max_size=5),
)
def test_no_candidate_is_excluded_or_repeated_and_each_has_its_origin(name, place, hints, schema, gone, held):
    arg = ArgumentFacts(
        name=name,
        place=place,
        declared=schema,
        hints=tuple(hints),
        refused=tuple(Value(value, MADE_UP) for value in gone),
    )
    tool = facts(arg, schema=schema)
    pools = pools_of({"tickets": [{"id": value, "name": str(value)} for value in held], "day": "2020-02-29"})
    made = list(islice(candidates(tool, arg, pools=pools, suggested=held), 60))
    fits = Fits(tool, arg)
    assert all(fits.allows(value.value) for value in made)
    assert all(validator(schema).is_valid(value.value) for value in made)
    keys = [fits.key(value.value) for value in made]
    assert len(keys) == len(set(keys))
    assert made == list(islice(candidates(tool, arg, pools=pools, suggested=held), 60))
    for value in made:
        if value.origin.kind == "response":
            found = value.value[0] if isinstance(value.value, list) else value.value
            assert (value.origin.tool, value.origin.path) in pools.where(found)


def test_what_a_description_tells_apart_in_quotation_marks_is_tried():
    said = "Whether to list local branches ('local'), remote ones ('remote') or all of them('all')."
    arg = argument(name="kind", declared={"type": "string", "description": said})
    assert plain(arg, count=4)[:3] == ["local", "remote", "all"]


def test_other_arguments_in_quotation_marks_are_no_values():
    arg = argument(name="span", declared={"type": "string", "description": "Between 'start' and 'end', in days."})
    other = {name: argument(name=name) for name in ("start", "end")}
    tool = replace(facts(arg), arguments={"span": arg, **other})
    assert not {"start", "end"} & set(plain(arg, tool=tool))


def test_what_replies_call_the_value_says_what_it_may_be():
    arg = argument(
        Hint(kind="not_found", argument="target", text="Ref '…' did not resolve to an object"),
        name="target",
        declared={"type": "string"},
    )
    assert plain(arg, count=3) == ["HEAD", "main", "master"]


def test_paths_are_tried_where_a_reply_speaks_of_files():
    arg = argument(
        Hint(kind="not_found", argument="source", text="ENOENT: no such file or directory, rename '/srv/a'"),
        name="source",
        declared={"type": "string"},
    )
    pools = pools_of({"path": "/srv/b.txt", "mime": "text/plain"})
    assert plain(arg, pools=pools)[0] == "/srv/b.txt"


@pytest.mark.parametrize("content", ["Staged changes:\nnone", "iVBORw0KGgo=", "QUJD" * 200])
def test_what_a_file_holds_names_nothing(content):
    arg = argument(name="branch_id", declared={"type": "string"})
    assert content not in plain(arg, pools=pools_of({"things": [content]}), count=40)
