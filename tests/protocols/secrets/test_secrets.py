"""Which places of a value are secret: what a schema marks, and what a name says."""

from __future__ import annotations

import time

import pytest

from protocols.secrets import is_blank_or_mask, replace_secrets, secrets_of
from protocols.secrets.names import secret_kind

RANDOM = "AIzaSyD9tSrke72PouQMnMX7eZSW0jk"
SECRETS = """
password passwd pwd Password userPassword new_password password_confirmation passwordHash password1 PASSWORD secret
client_secret clientSecret webhook-secret token access_token accessToken ACCESS_TOKEN refresh_token id_token
X-Auth-Token csrf_token reset_token token_value apikey api_key apiKey APIKey X-API-Key api_keys apiKeyV2
private_key secret_access_key signing_key SSHPrivateKey authorization Authorization proxy-authorization cookie
Set-Cookie session_token jwt passphrase seed_phrase credentials database_credentials smtp_pass accesstoken
"""
OTHERS = """
next_page_token pageToken nextPageToken continuation_token sync_token eos_token token_count tokenCount max_tokens
total_tokens tokens_used token_type token_expires_at has_password password_changed_at password_policy secret_name
secret_arn primary_key foreignKey public_key idempotency_key sort_key partitionKey cacheKey access_key_id
api_key_id keyword keywords monkey hockey author authority authored_by passenger passport boarding_pass compass
pinned spinning cookie_policy tokenizer secretary secretariat passage card_last4 number id name iban email username
key_name
"""


def hidden(value, schema=None):
    return replace_secrets(value, schema, lambda _: "***")


def of(**properties):
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize("name", SECRETS.split())
def test_names_of_secrets(name):
    assert secret_kind(name) == "text"
    assert hidden({name: "a b"}) == {name: "***"}


@pytest.mark.parametrize("name", OTHERS.split())
def test_names_that_only_look_like_it(name):
    value = {name: RANDOM}
    assert hidden(value) == value


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("pin", "1234", True), ("pin", 1234, True), ("card_pin", "0000", True), ("pin", "north", False),
        ("cvv", 123, True), ("cvv2", "123", True), ("otp", "839 201", True), ("otp", True, False),
        ("ssn", "078-05-1120", True), ("card_number", "4111 1111 1111 1111", True), ("creditCard", "Visa", False),
        ("recovery_codes", ["a1b2-c3d4"], True),
        ("key", "PROJ-1234", False), ("key", "photos/2024/IMG_2041.jpg", False), ("key", "new-york-2013-data", False),
        ("key", "7e380070-f762-11e1-a439-00145eb45e9a", False), ("key", "20240101T120000Z-20240101T130000Z", False),
        ("key", RANDOM, True), ("stream_key", RANDOM, True), ("session_id", "9e107d9d372bb6826bd81d3542a419d6", True),
        ("session_id", "S-101", False), ("tokens", ["The", "cat", "sat"], False), ("tokens", [RANDOM], True),
        ("tokens", 4096, False), ("token", 5, False), ("token", 1234567, True), ("token", "", False),
        ("token", None, False), ("token", False, False), ("token", "bearer", False), ("password", "required", False),
    ],
)  # fmt: skip
def test_a_value_has_to_fit_its_name(name, value, secret):
    expected = (["***"] if isinstance(value, list) else "***") if secret else value
    assert hidden({name: value}) == {name: expected}


@pytest.mark.parametrize(
    "mark", [{"writeOnly": True}, {"format": "password"}, {"x-atc-secret": True}]
)
def test_schema_marks_make_any_value_secret(mark):
    schema = of(word=mark, other={})
    assert hidden({"word": "true", "other": "true"}, schema) == {"word": "***", "other": "true"}
    assert hidden({"word": 5}, schema) == {"word": "***"}
    assert hidden({"word": None}, schema) == {"word": None}


def test_a_mark_holds_below_it():
    schema = of(login={"x-atc-secret": True}, user={})
    value = {"login": {"name": "bo", "codes": ["a", 1], "active": True}, "user": "bo"}
    assert hidden(value, schema) == {
        "login": {"name": "***", "codes": ["***", "***"], "active": True},
        "user": "bo",
    }


def test_what_is_declared_to_be_none_is_none():
    schema = of(
        token={"x-atc-secret": False},
        box={"x-atc-secret": True, **of(size={"x-atc-secret": False})},
    )
    value = {"token": "abc", "box": {"size": 3, "code": "x"}}
    assert hidden(value, schema) == {"token": "abc", "box": {"size": 3, "code": "***"}}
    assert hidden(
        {"tokens": [RANDOM], "inner": {"token": "abc"}},
        {"properties": {"tokens": {"x-atc-secret": False}}},
    ) == {"tokens": [RANDOM], "inner": {"token": "***"}}


def test_listed_values_are_no_secrets():
    schema = of(token={"enum": ["ETH", "BTC"]}, secret={"const": "on"}, password={"type": "string"})
    value = {"token": "ETH", "secret": "on", "password": "ETH"}
    assert hidden(value, schema) == {**value, "password": "***"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [{"b": {"api_key": "x"}}]}, {"a": [{"b": {"api_key": "***"}}]}),
        ({"secrets": {"DB": "x", "MAIL": "y"}}, {"secrets": {"DB": "***", "MAIL": "***"}}),
        (
            {"token": {"value": "x", "type": "t", "ttl": 5}},
            {"token": {"value": "***", "type": "t", "ttl": 5}},
        ),
        ([{"name": "Authorization", "value": "x"}], [{"name": "Authorization", "value": "***"}]),
        (
            [{"name": "Golden Token", "text": "a coin"}],
            [{"name": "Golden Token", "text": "a coin"}],
        ),
        ([{"name": "password", "type": "string"}], [{"name": "password", "type": "string"}]),
        ({"tokens": [{"name": "CI", "token": "x"}]}, {"tokens": [{"name": "CI", "token": "***"}]}),
    ],
)
def test_secrets_within(value, expected):
    assert hidden(value) == expected
    assert hidden(value, {"type": "object"}) == expected  # an open schema says no more than none


def test_marks_are_found_through_references_combinations_and_maps():
    secret = {"$ref": "#/$defs/secret"}
    schema = {
        "$defs": {
            "secret": {"type": "string", "writeOnly": True},
            "node": of(x=secret, next={"$ref": "#/$defs/node"}),
        },
        **of(
            node={"$ref": "#/$defs/node"},
            either={"anyOf": [{"type": "null"}, of(y=secret)]},
            all={"allOf": [of(z=secret), of(w={})]},
            map={"type": "object", "additionalProperties": secret},
            patterned={"patternProperties": {"^x": secret}},
            tuple={"prefixItems": [{}, secret], "items": {}},
        ),
    }
    value = {
        "node": {"x": "a", "next": {"next": {"x": "a"}}},
        "either": {"y": "a"},
        "all": {"z": "a", "w": "a"},
        "map": {"q": "a"},
        "patterned": {"x1": "a"},
        "tuple": ["a", "a", "a"],
    }
    assert hidden(value, schema) == {
        "node": {"x": "***", "next": {"next": {"x": "***"}}},
        "either": {"y": "***"},
        "all": {"z": "***", "w": "a"},
        "map": {"q": "***"},
        "patterned": {"x1": "***"},
        "tuple": ["a", "***", "a"],
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$ref": "#/nowhere"}, {"properties": {"token": {"$ref": "#"}}},
        {"anyOf": [{"$ref": "#"}] * 60}, {"properties": {"token": True}}, {"items": False},
        {"additionalProperties": True},
    ],
)  # fmt: skip
def test_dangling_schemas_end_and_names_count(schema):
    assert hidden({"token": "abc", "a": ["b"]}, schema) == {"token": "***", "a": ["b"]}


@pytest.mark.parametrize(
    "text", ["***", "[redacted]", "<hidden>", "xxxxxxx", "  ", "[redacted-str-3-0.0.1]"]
)
def test_a_mask_conceals_nothing(text):
    assert is_blank_or_mask(text)


@pytest.mark.parametrize(
    "text", ["hunter2", "!@#$%^&*()", "123456", "secret", "string", "x1x1x1", "hidden agenda"]
)
def test_anything_else_may_be_a_secret(text):
    assert not is_blank_or_mask(text)


def test_a_foreign_pattern_cannot_take_forever():
    schema = {"patternProperties": {"^(a+)+$": {"writeOnly": True}}}
    began = time.process_time()
    hidden({"a" * 40 + "!": "x"}, schema)
    assert time.process_time() - began < 5


def test_repeated_lines_hide_the_same():
    lines = [
        "<tr><td>API key</td><td>Zq8XvT3mKp7LrW2nBd5HsJ9c</td></tr>",
        '<b>password</b>: <i>sommerregen-2024</i> &amp; <code>login("bob", "winter!2024")</code>',
        "password: &anchor herbstlaub-2024",
        "Password ......: fruehling-2024",
    ]
    once = set().union(
        *(
            secrets_of(f"{line}\n\n\nThat is all.\n" + "Nothing else. " * 200, None)
            for line in lines
        )
    )
    many = "\n\n\nThat is all.\n".join(
        [line + "\n" + "Nothing else. " * 200 for line in lines] * 20
    )
    assert set(secrets_of(many, None)) >= {
        *once,
        "sommerregen-2024",
        "winter!2024",
        "herbstlaub-2024",
        "fruehling-2024",
    }
