"""The schema of a tool's arguments: every accepted call conforms, and what replies told stands in it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.arguments import input_schema
from probing.facts import learn
from probing.sample import Origin, Sample, Value
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.schema import violations


def tool(*names, path="/flights", method="GET", place="query", required=(), **declared):
    properties = {name: {} for name in names} | declared
    return ToolProtocol(
        name="flights",
        input_schema={"type": "object", "properties": properties, "required": list(required)},
        annotations=Annotations(read_only=method == "GET"),
        binding=HttpBinding(
            method=method,
            url=f"https://a.example{path}",
            locations={n: "path" if f"{{{n}}}" in path else place for n in properties},
        ),
    )


class Calls:
    """A log of calls of one tool."""

    def __init__(self):
        self.samples = []

    def __call__(self, response=None, error=None, status=422, purpose="discover", kind="generated", **arguments):
        self.samples.append(
            Sample(
                number=len(self.samples) + 1,
                tool="flights",
                arguments={name: Value(value, Origin(kind=kind)) for name, value in arguments.items()},
                purpose=purpose,
                outcome="refused" if error else "done",
                status=status if error else None,
                response=None if error else response or {"ok": True},
                answer=json.dumps({"detail": error}) if error else None,
            )
        )
        return self


def schema_of(protocol, calls):
    facts = learn(protocol, calls.samples)
    schema = input_schema(facts)
    for sample in facts.done:
        assert violations(schema, sample.plain) == []
    return schema


def test_what_replies_tell_stands_in_the_schema():
    calls = Calls()
    calls(error="limit must be an integer from 1 to 50, got 'x'", limit="x", sort="asc")
    calls(error="sort must be one of asc, desc", limit=5, sort="up")
    calls(error="airline is missing; it must be a two-character code such as 'DL'")
    calls(limit=5, sort="asc", airline="DL")
    schema = schema_of(tool("limit", "sort", "airline", "day"), calls)
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 50, "examples": [5]}
    assert schema["properties"]["sort"] == {"enum": ["asc", "desc"], "type": "string", "examples": ["asc"]}
    assert schema["properties"]["airline"] == {"type": "string", "minLength": 2, "maxLength": 2, "examples": ["DL"]}
    assert schema["properties"]["day"] == {}
    assert schema["required"] == ["airline"]


def test_a_hint_that_an_accepted_value_contradicts_is_not_taken():
    calls = Calls()
    calls(error="limit must be at most 50", limit=99)
    calls(error="sort must be one of asc, desc", sort="up")
    calls(error="day must be YYYY-MM-DD", day="x")
    calls(limit=70, sort="random", day="today")
    properties = schema_of(tool("limit", "sort", "day"), calls)["properties"]
    assert "maximum" not in properties["limit"]
    assert "enum" not in properties["sort"]
    assert "format" not in properties["day"]


def test_each_side_of_a_range_is_told_by_its_own_refusal():
    calls = Calls()
    calls(error="limit must be at most 50", limit=99)
    calls(error="limit must be at least 1", limit=0)
    calls(limit=7)
    assert schema_of(tool("limit"), calls)["properties"]["limit"] == {
        "type": "number",
        "minimum": 1,
        "maximum": 50,
        "examples": [7],
    }


@pytest.mark.parametrize(
    ("refused", "accepted", "kind"),
    [
        (["x"], [1, 2], "integer"),
        ([], [1, 2], None),
        ([99], [1, 2], None),
        ([], ["a", "b"], "string"),
        ([], ["5"], None),
        ([], [True], None),
    ],
)
def test_a_number_in_a_url_is_called_one_only_where_a_word_was_refused(refused, accepted, kind):
    calls = Calls()
    for value in refused:
        calls(error="limit is invalid", limit=value)
    for value in accepted:
        calls(limit=value)
    assert schema_of(tool("limit"), calls)["properties"]["limit"].get("type") == kind


def test_in_json_a_value_has_the_type_it_had():
    calls = Calls()
    calls(limit=5, tags=["a"], filter={"a": 1}, name="5")
    calls(limit=5.5, tags=[], filter={}, name="6")
    properties = schema_of(tool("limit", "tags", "filter", "name", method="POST", place="body"), calls)["properties"]
    assert [properties[n]["type"] for n in ("limit", "tags", "filter", "name")] == [
        "number",
        "array",
        "object",
        "string",
    ]


def test_a_number_accepted_as_text_keeps_the_told_type_and_the_text():
    calls = Calls()
    calls(error="limit must be an integer from 1 to 50", limit="x")
    calls(limit="5")
    calls(limit=7)
    limit = schema_of(tool("limit"), calls)["properties"]["limit"]
    assert limit["type"] == ["integer", "string"]
    assert (limit["minimum"], limit["maximum"]) == (1, 50)


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "integer", "maximum": 10},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "pattern": "^x", "maxLength": 1},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        {"$ref": "#/$defs/Small"},
        {"allOf": [{"type": "string"}, {"minLength": 9}]},
        {"const": 4},
        {"type": "banana"},
        {"not": {}},
    ],
)
def test_an_accepted_value_wins_over_what_was_declared(declared):
    protocol = tool("other", limit=declared)
    schema = {**protocol.input_schema, "$defs": {"Small": {"type": "integer", "maximum": 3}}}
    protocol = ToolProtocol(name="flights", input_schema=schema, binding=protocol.binding)
    for value in (12, "b2", "2024"):
        schema_of(protocol, Calls()(limit=value))


def test_what_was_declared_and_not_contradicted_is_kept():
    declared = {"type": "integer", "minimum": 1, "maximum": 10, "description": "How many.", "default": 3}
    calls = Calls()(limit=5)(error="limit must be between 1 and 7", limit=9)
    limit = schema_of(tool(limit=declared), calls)["properties"]["limit"]
    assert limit == {**declared, "examples": [5]}


@pytest.mark.parametrize("told", [True, False])
def test_an_argument_is_needed_where_its_absence_alone_was_refused(told):
    calls = Calls()(day="2024-01-01", limit=5)
    calls(error="day is required" if told else "Bad Request", status=400, purpose="omit", limit=5)
    calls(day="2024-01-01")
    assert schema_of(tool("day", "limit"), calls)["required"] == ["day"]


def test_an_argument_never_left_out_is_not_called_needed():
    assert "required" not in schema_of(tool("day"), Calls()(day="2024-01-01"))


def test_a_failure_of_the_service_does_not_make_an_argument_needed():
    calls = Calls()(day="2024-01-01", limit=5)(error="slow down", status=429, purpose="discover", limit=5)
    assert "required" not in schema_of(tool("day", "limit"), calls)


def test_a_default_is_told():
    calls = Calls()(error="limit must be between 1 and 50 (default is 20)", limit=99)(limit=5)
    assert schema_of(tool("limit"), calls)["properties"]["limit"]["default"] == 20


def test_a_default_is_echoed():
    calls = Calls()({"page": {"limit": 20}, "total": 4})({"page": {"limit": 5}, "total": 4}, limit=5)
    properties = schema_of(tool("limit", "total"), calls)["properties"]
    assert properties["limit"]["default"] == 20
    assert "default" not in properties["total"]


@pytest.mark.parametrize("echo", [5, 20])
def test_a_constant_is_no_default(echo):
    """One that stays when the argument changes, and one that was only ever given itself."""
    calls = Calls()({"limit": 20})({"limit": 20}, limit=echo)
    assert "default" not in schema_of(tool("limit"), calls)["properties"]["limit"]


def test_arguments_that_exclude_each_other():
    calls = Calls()(error="either origin or destination, not both", origin="JFK", destination="LAX")
    calls(origin="JFK")(destination="LAX")
    schema = schema_of(tool("origin", "destination"), calls)
    assert violations(schema, {"origin": "JFK", "destination": "LAX"}) != []
    assert "not given together" in schema["description"]


def test_an_argument_that_needs_another():
    calls = Calls()(error="hour requires day", hour=3)(day="x", hour=3)()
    schema = schema_of(tool("hour", "day"), calls)
    assert schema["dependentRequired"] == {"hour": ["day"]}


def test_a_rule_that_a_done_call_breaks_is_no_rule():
    calls = Calls()(error="either origin or destination, not both", origin="JFK", destination="LAX")
    calls(error="hour requires day", hour=3)
    calls(origin="JFK", destination="LAX", hour=3)
    schema = schema_of(tool("origin", "destination", "hour", "day"), calls)
    assert not {"not", "dependentRequired", "description"} & schema.keys()


def test_at_least_one_of_several():
    calls = Calls()(error="at least one of day, city is required")(day="x")(city="y")
    schema = schema_of(tool("day", "city"), calls)
    assert violations(schema, {}) != []
    assert "At least one" in schema["description"]
    assert "anyOf" not in schema_of(tool("day", "city"), calls())


def test_a_multiple():
    calls = Calls()(error="step must be a multiple of 15", step=7)(step=30)
    assert schema_of(tool("step"), calls)["properties"]["step"]["multipleOf"] == 15
    assert "multipleOf" not in schema_of(tool("step"), calls(step=8))["properties"]["step"]


def test_examples_are_of_calls_that_were_meant_to_be_done_and_said_something():
    calls = Calls()(q="first", response={"rows": []})(q="qzx!", purpose="refuse")(
        q="second", response={"rows": [{"a": 1}]}
    )
    assert schema_of(tool("q"), calls)["properties"]["q"]["examples"] == ["second", "first"]


@pytest.mark.parametrize(("kind", "told"), [("response", True), ("generated", False)])
def test_values_from_elsewhere_that_are_all_dates_tell_the_format(kind, told):
    calls = Calls()
    for day in ("2024-01-01", "2024-02-03", "2013-12-31"):
        calls(day=day, kind=kind)
    assert ("format" in schema_of(tool("day"), calls)["properties"]["day"]) is told


def test_an_argument_that_only_a_reply_names():
    schema = schema_of(tool("limit"), Calls()(error="missing required parameter: 'airline'", limit=5))
    assert list(schema["properties"]) == ["limit", "airline"]
    assert schema["required"] == ["airline"]


def test_an_argument_that_the_tool_does_not_know_is_left_out():
    schema = schema_of(tool("limit", "pagee"), Calls()(error="unknown parameter 'pagee'", limit=5, pagee=1)(limit=5))
    assert list(schema["properties"]) == ["limit"]


def test_a_list_of_allowed_values_is_that_of_an_arrays_items():
    calls = Calls()(error="tags must be one of red, green", tags=["x"])(tags=["red"])
    tags = schema_of(tool("tags", method="POST", place="body"), calls)["properties"]["tags"]
    assert tags == {"type": "array", "items": {"enum": ["red", "green"]}, "examples": [["red"]]}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 120)
    | st.floats(-5, 5)
    | st.sampled_from(["a", "5", "2024-01-01", "", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=4,
)
SAYINGS = [
    "{a} must be an integer from 0 to 23", "{a} must be one of a, 5, true", "{a} must match ^[a-z]+$",
    "{a} is required",
    "{a} must be YYYY-MM-DD", "{a} must be at least 3 characters", "{a} requires {b}", "either {a} or {b}, not both",
    "{a} must be a boolean", "{a} must be a list", "{a} must be greater than 2 (default is 7)",
    "unknown parameter '{a}'",
    "{a} must be a string", "{a} must be a number", "{a} must be at most 3 items", "invalid {a}", "nothing to say",
]  # fmt: skip
CLAUSES = st.sampled_from([
    {}, {"type": "integer"}, {"type": "string", "maxLength": 1}, {"enum": ["a", 5]}, {"type": ["string", "null"]},
    {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, {"format": "date", "type": "string"}, {"minimum": 3},
    {"$ref": "#/$defs/D"}, {"not": {"type": "string"}}, {"items": {"type": "integer"}}, {"const": "a"}, True, False, [],
])  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_every_accepted_call_conforms(data):
    names = ["day", "limit", "tags"]
    protocol = tool(
        **{name: data.draw(CLAUSES) for name in names},
        place=data.draw(st.sampled_from(["query", "body"])),
        required=data.draw(st.lists(st.sampled_from(names), unique=True)),
    )
    extra = data.draw(
        st.sampled_from([{}, {"additionalProperties": False}, {"oneOf": [{"required": ["day"]}, {"maxProperties": 1}]}])
    )
    schema = {**protocol.input_schema, "$defs": {"D": {"type": "string", "minLength": 4}}, **extra}
    protocol = ToolProtocol(name="flights", input_schema=schema, binding=protocol.binding)
    calls = Calls()
    for _ in range(data.draw(st.integers(0, 6))):
        arguments = data.draw(st.dictionaries(st.sampled_from(names), VALUES))
        one, other = data.draw(st.permutations(names))[:2]
        said = data.draw(st.none() | st.sampled_from(SAYINGS))
        response = {"limit": data.draw(st.sampled_from([7, "a", None]))}
        calls(response, error=said and said.format(a=one, b=other), **arguments)
    schema_of(protocol, calls)


def paged(n, total=40):
    """A response of n records of a total, as a page has them."""
    return {"items": list(range(n)), "total": total}


def test_a_default_is_how_long_pages_are():
    calls = Calls()(paged(20))(paged(20), q="x")(paged(5), limit=5)
    assert schema_of(tool("limit", "q"), calls)["properties"]["limit"]["default"] == 20


@pytest.mark.parametrize(
    "calls",
    [
        Calls()(paged(20, total=20))(paged(5), limit=5),  # there is no more
        Calls()(paged(20))(paged(30), limit=5),  # it is no limit
        Calls()(paged(20))(paged(19), q="x")(paged(5), limit=5),
        Calls()(paged(20)),
    ],
)
def test_a_length_that_shows_no_limit_is_no_default(calls):
    assert "default" not in schema_of(tool("limit", "q"), calls)["properties"].get("limit", {})
