"""The bench of probing: what counts as right, rows that are continued, and rules that a protocol states or not."""

import json

import pytest

from benchmarks.probing import rules
from benchmarks.probing.runs import Options, Suite, strip
from benchmarks.probing.score import score_tool
from protocols.protocol import HttpBinding, ToolProtocol
from toolflow_bench.rows import InvalidRunFile

RECORD = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
}


def protocol(output=None, required=(), links=(), **arguments):
    return ToolProtocol(
        name="find",
        input_schema={"type": "object", "properties": arguments, "required": list(required)},
        output_schema=output,
        links=tuple(links),
        binding=HttpBinding(method="GET", url="http://127.0.0.1/find"),
    )


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (RECORD, (3, 3, 3)),
        ({"type": "object", "properties": {"id": {"type": "number"}, "tags": {"type": "array"}}}, (1, 2, 3)),
        ({"type": "object", "properties": {"id": {"type": ["integer", "null"]}}}, (1, 1, 3)),
        ({"type": "object", "properties": {"id": {}}}, (0, 1, 3)),  # an open type is wrong
        (None, (0, 0, 3)),
    ],
)
def test_fields_are_pairs_of_path_and_type(said, counts):
    found = score_tool(protocol(said), protocol(RECORD))["fields"]
    assert (found["right"], found["said"], found["wanted"]) == counts
    assert score_tool(protocol(said), protocol(None))["fields"]["said"] == 0  # the document is silent


def test_what_only_documentation_knows_is_taken_away():
    whole = protocol(RECORD, ["q"], q={"type": "string", "enum": ["a"]})
    (names,) = strip([whole])
    assert (names.output_schema, names.required, names.parameters["q"]) == (None, frozenset(), {})
    assert names.annotations.read_only


def measured(out, calls=15):
    asked = []

    def measure(unit, _):
        asked.append(unit)
        return {"name": unit}

    suite = Suite(name="s", units=lambda _: ["a", "b"], measure=measure, total=len)
    options = Options(out=out, per_tool=calls)
    with options.rows() as rows:
        return asked, suite.run(options, rows)


def test_what_has_a_row_is_not_measured_again(tmp_path):
    first, again = measured(tmp_path), measured(tmp_path)
    assert first == (["a", "b"], {"units": {"a": {"name": "a"}, "b": {"name": "b"}}, "total": 2})
    assert again == ([], first[1])
    with pytest.raises(InvalidRunFile, match="calls was 15, is 3"):
        measured(tmp_path, calls=3)


@pytest.mark.parametrize("rule", rules.rules().values(), ids=list(rules.rules()))
def test_each_planted_rule_can_be_kept_and_is_not_stated_by_names_alone(rule):
    tools = [rules.tool(fake, "http://127.0.0.1") for fake in rule["tools"]]
    assert not rules.states(tools[0], rule)
    method, path, *_ = rule["tools"][0]["call"].split()
    for kept, calls in ((True, rule.get("good", [])), (False, rule.get("bad", []))):
        for given in calls:
            target = path.format_map(given)
            rest = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
            if method == "GET":
                target += "?" + "&".join(f"{name}={value}" for name, value in rest.items())
            status, _ = rules.answer(
                rule["tools"], method, target, b"" if method == "GET" else json.dumps(rest).encode()
            )
            assert (status == 200) is kept or (method == "POST" and not kept), (given, status)
