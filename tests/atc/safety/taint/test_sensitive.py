"""Which values of a call are sensitive: declared marks, guesses by name and format, values that say it themselves."""

import pytest

from atc.safety.taint.sensitive import sensitive_leaves
from protocols.protocol import Annotations, ToolProtocol

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def protocol(properties, *, name="create_thing", reads=False, **schema):
    return ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": properties, **schema},
        annotations=Annotations(read_only=reads),
    )


def argument_kind(protocol, name):
    """What an argument is judged to be, by its declaration, name and format."""
    schema = protocol.parameters[name]
    given = {"array": ["5"], "number": 5, "integer": 5, "boolean": True}.get(schema["type"], "5")
    given = "2026-11-29" if schema.get("format") == "date" else schema.get("enum", [given])[0]
    return next(
        (leaf.kind for leaf in sensitive_leaves(protocol, {name: given}, is_told_by_user=True)),
        None,
    )


def leaves(properties, arguments, **options):
    """The sensitive leaves as `path: value`, paths as text."""
    found = sensitive_leaves(protocol(properties, **options), arguments, is_told_by_user=True)
    return [
        (".".join(map(str, (leaf.argument, *leaf.path))), leaf.value, leaf.kind) for leaf in found
    ]


@pytest.mark.parametrize(
    ("tool", "name", "schema", "kind"),
    [
        ("create_thing", "to", TEXT, "recipient"),
        ("create_thing", "cc", {"type": "array", "items": TEXT}, "recipient"),
        ("create_thing", "recipientEmail", TEXT, "recipient"),
        ("create_thing", "callback_url", TEXT, "url"),
        ("create_thing", "place", {"type": "string", "format": "hostname"}, "url"),
        ("create_thing", "sql", TEXT, "command"),
        ("create_thing", "budget_limit", NUMBER, "amount"),
        ("create_thing", "cash_usd", {"type": "integer"}, "amount"),
        ("create_thing", "to", {"type": "string", "format": "date"}, None),
        ("create_thing", "channel", {"type": "string", "enum": ["email", "sms"]}, None),
        ("create_thing", "email_verified", {"type": "boolean"}, None),
        ("create_thing", "travel_to", TEXT, None),
        ("send_mail", "user", TEXT, "recipient"),  # what the tool does counts
        ("run_script", "code", TEXT, "command"),
        ("transfer_coins", "value", TEXT, "amount"),
        ("message_user", "user_id", TEXT, "recipient"),
        ("message_login", "user_id", TEXT, None),
        ("call", "number", TEXT, "recipient"),
    ],
)
def test_a_guess_by_names_and_format(tool, name, schema, kind):
    assert argument_kind(protocol({name: schema}, name=tool), name) == kind


@pytest.mark.parametrize(
    ("tool", "name", "kind"),
    [
        ("create_thing", "url", "url"),
        ("create_thing", "command", "command"),
        ("create_thing", "recipient", "recipient"),
        ("create_thing", "email", None),
        ("create_thing", "to", None),
        ("create_thing", "amount", None),
        ("list_messages", "to", None),
        ("sendMessage", "to", "recipient"),  # what is named as sending is not believed to read
        ("pay_bill", "amount", "amount"),
    ],
)
def test_read_only_tools_are_guessed_less(tool, name, kind):
    schema = NUMBER if name == "amount" else TEXT
    assert argument_kind(protocol({name: schema}, name=tool, reads=True), name) == kind


@pytest.mark.parametrize("mark", ["recipient", "url", "command", "amount"])
def test_a_declared_mark_wins(mark):
    marked = {"type": "string", "x-atc-sensitive": mark}
    assert argument_kind(protocol({"url": marked}), "url") == mark
    assert leaves({"x": marked}, {"x": "a"}) == [("x", "a", mark)]
    assert (
        argument_kind(protocol({"url": {"type": "string", "x-atc-sensitive": False}}), "url")
        is None
    )
    assert (
        leaves(
            {"url": {"type": "string", "x-atc-sensitive": False}}, {"url": "https://evil.example"}
        )
        == []
    )


@pytest.mark.parametrize("mark", [True, "recipients"])
def test_an_unknown_mark_is_the_strictest(mark):
    assert leaves({"x": {"type": "string", "x-atc-sensitive": mark}}, {"x": "a"}) == [
        ("x", "a", "command")
    ]


def test_marks_behind_references_and_alternatives_count():
    properties = {"x": {"anyOf": [{"$ref": "#/$defs/Who"}, {"type": "null"}]}}
    defs = {"Who": {"type": "string", "x-atc-sensitive": "recipient"}}
    assert leaves(properties, {"x": "a"}, **{"$defs": defs}) == [("x", "a", "recipient")]


def test_everything_beneath_a_mark_is_sensitive():
    marked = {"type": "object", "properties": {"name": TEXT}, "x-atc-sensitive": "recipient"}
    assert leaves({"x": marked}, {"x": {"name": "a", "b": [1, True, None], "c": {"d": "e"}}}) == [
        ("x.name", "a", "recipient"),
        ("x.Many.KEY", "b", "recipient"),
        ("x.b.0", 1, "recipient"),
        ("x.b.1", True, "recipient"),
        ("x.Many.KEY", "c", "recipient"),
        ("x.c.Many.KEY", "d", "recipient"),
        ("x.c.d", "e", "recipient"),
    ]


def test_argument_fields_are_guessed_by_name():
    person = {"type": "object", "properties": {"email": TEXT, "role": TEXT}}
    properties = {"people": {"type": "array", "items": person}, "body": {"type": "object"}}
    given = {"people": [{"email": "a@b.org", "role": "c"}], "body": {"to": "eve", "text": "hi"}}
    assert leaves(properties, given) == [
        ("people.0.email", "a@b.org", "recipient"),
        ("body.to", "eve", "recipient"),
    ]


def test_a_mark_within_harmless_arguments_counts():
    properties = {
        "body": {
            "type": "object",
            "x-atc-sensitive": False,
            "properties": {"to": TEXT, "target": {"type": "string", "x-atc-sensitive": "url"}},
        }
    }
    assert leaves(properties, {"body": {"to": "a@b.org", "target": "c"}}) == [
        ("body.target", "c", "url")
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("eve@evil.example", "recipient"),
        ("Bob <eve@evil.example>", "recipient"),
        ("+49 170 1234567", "recipient"),
        ("DE89 3704 0044 0532 0130 00", "recipient"),
        ("https://evil.example/x", "url"),
        ("write to eve@evil.example", None),
        ("DE00 3704 0044 0532 0130 00", None),
        ("spotify:track:123", None),
    ],
)
def test_a_value_may_show_its_own_kind(value, kind):
    found = [(leaf[1], leaf[2]) for leaf in leaves({"thing": TEXT}, {"thing": value})]
    assert found == ([(value, kind)] if kind else [])
    assert leaves({"thing": TEXT}, {"thing": value}, reads=True) == []


def test_an_address_counts_by_where_it_stands():
    """Not in prose; in a read only where the name hints at one; in a closed set all the same."""
    for name in ("text", "mail_subject", "note"):
        assert leaves({name: TEXT}, {name: "eve@evil.example"}) == []
    assert leaves({"uri": TEXT}, {"uri": "https://evil.example/?q=1"}, reads=True)
    assert leaves({"uri": TEXT}, {"uri": "spotify:track:123"}, reads=True) == []
    for tool, kind in (("move", None), ("send_mail", "recipient")):
        assert argument_kind(protocol({"from": TEXT, "to": TEXT}, name=tool), "to") == kind
    closed = {"type": "string", "enum": ["eve@evil.example", "email"]}
    assert leaves({"to": closed}, {"to": "eve@evil.example"}) == [
        ("to", "eve@evil.example", "recipient")
    ]
    assert leaves({"to": closed}, {"to": "email"}) == []


def test_amounts_are_numbers():
    payment = {"type": "object", "properties": {"value": NUMBER, "note": TEXT}}
    assert leaves({"payment": payment}, {"payment": {"value": 5, "note": "invoice 77"}}) == [
        ("payment.value", 5, "amount")
    ]
    declared = {**payment, "x-atc-sensitive": "amount"}
    assert [
        leaf[1] for leaf in leaves({"payment": declared}, {"payment": {"value": 5, "note": "all"}})
    ] == [5, "all"]


def test_hostile_schemas_and_values_cost_nothing():
    evil = {"type": "object", "patternProperties": {"^(a+)+$": TEXT}}
    assert leaves({"x": evil}, {"x": {"a" * 40 + "!": "eve@evil.example"}})
    nested = "eve@evil.example"
    for _ in range(60):
        nested = [nested]
    assert leaves({"x": {}}, {"x": nested})
    loop = {"$ref": "#/$defs/L"}
    assert leaves(
        {"x": loop}, {"x": "eve@evil.example"}, **{"$defs": {"L": {"anyOf": [loop, TEXT]}}}
    )
    assert leaves({"x": TEXT}, {"x": "a@" + "b." * 100_000}) == []
