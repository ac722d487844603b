"""Secrets of a run become placeholders: everywhere, the same ones, and never by halves."""

from __future__ import annotations

import html
import json
import re
import shlex
import threading
from dataclasses import replace
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atc.core import events
from atc.core.program import Program
from atc.safety.redaction import Redactor
from protocols.protocol import ToolProtocol
from protocols.secrets import PLACEHOLDER, is_blank_or_mask
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def is_placeholder(value):
    return isinstance(value, str) and PLACEHOLDER.fullmatch(value) is not None


def of(**properties):
    return {"type": "object", "properties": properties}


LOGIN = Tool(
    protocol=ToolProtocol(
        name="login",
        input_schema=of(**{"user": {}, "password": {}, "from": {"writeOnly": True}}),
        output_schema=of(token={}, code={"x-atc-secret": True}),
    ),
    call=lambda _: None,
)
TOOLS = Toolbox([LOGIN])
TOKEN = "tok-4fQ9 x/+\"é'"
CALL = ToolCall(
    index=3,
    tool="login",
    arguments={"user": "bo", "password": "hunter2!", "from_": "ab"},
    line=1,
    result={"token": TOKEN, "code": 77},
)


@pytest.fixture
def redact():
    redactor = Redactor(TOOLS)
    redactor.learn_call(CALL, 0)
    return redactor


def learn(redactor, arguments, response, at=(0, 0)):
    """Have the secrets of a call of `login` learned; `at` is its execution and its index."""
    redactor.learn_call(
        ToolCall(index=at[1], tool="login", arguments=arguments, line=1, result=response), at[0]
    )


PASSWORD_NAME, TOKEN_NAME = "[redacted-str-8-0.3.1]", f"[redacted-str-{len(TOKEN)}-0.3.3]"


def test_a_placeholder_tells_type_length_and_place(redact):
    assert redact("the password is hunter2!.") == f"the password is {PASSWORD_NAME}."
    assert redact(TOKEN) == TOKEN_NAME
    assert redact.value(CALL).result["code"] == "[redacted-int-2-0.3.4]"
    assert {PASSWORD_NAME, TOKEN_NAME} < redact.placeholders


@pytest.mark.parametrize(
    "spell",
    [
        lambda t: f"Bearer {t}",
        lambda t: json.dumps({"body": json.dumps({"token": t})}),
        lambda t: re.sub("%..", lambda found: found[0].lower(), quote(t, safe="")),
        lambda t: "curl -H " + shlex.quote(f"X-Token: {t}"),
    ],
)
def test_it_is_found_however_it_is_spelled(redact, spell):
    shown = redact(spell(TOKEN))
    assert len(PLACEHOLDER.findall(shown)) == 1
    assert "4fQ9" not in shown


def test_shortened_texts_show_no_secrets_beginning():
    redactor = Redactor(TOOLS)
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ\n-----END PRIVATE KEY-----"
    learn(redactor, {}, {"token": key, "secret": "9f8e7d6c5b4a"})
    assert redactor(f"got {key[:60]}…") == f"got [redacted-str-{len(key)}-0.0.1]…"
    assert redactor(" ".join(key.split())[:70]) == f"[redacted-str-{len(key)}-0.0.1]"
    assert redactor(json.dumps(key)[:50] + "...") == f'"[redacted-str-{len(key)}-0.0.1]...'
    assert redactor("9f8e7d6c5…") == "[redacted-str-12-0.0.2]…"
    assert redactor("9f8e7d6c5 is another") == "9f8e7d6c5 is another"
    assert (
        redactor('{"9f8e7d6c": 1}') == '{"9f8e7d6c": 1}'
    )  # a key that a secret happens to begin with


def test_a_short_secret_is_replaced_as_a_word():
    redactor = Redactor(TOOLS)
    learn(redactor, {}, {"pin": "1234", "otp": 555, "password": "9"})
    assert redactor("pin 1234, 12345, a1234, 1234.") == (
        "pin [redacted-str-4-0.0.1], 12345, a1234, [redacted-str-4-0.0.1]."
    )
    assert redactor("555 and 5550 and 9") == "[redacted-int-3-0.0.2] and 5550 and 9"
    value = {
        "pin": "1234",
        "password": "9",
        "otp": 555,
        "count": 555,
        "nine": "9",
        "rows": ["1234"],
    }
    assert redactor.value(value) == {
        "pin": "[redacted-str-4-0.0.1]",
        "password": "[redacted-str-1-0.0.3]",
        "otp": "[redacted-int-3-0.0.2]",
        "count": 555,
        "nine": "9",
        "rows": ["[redacted-str-4-0.0.1]"],
    }


def test_secrets_are_replaced_wherever_they_appear(redact):
    value = {
        "note": f"use {TOKEN}",
        TOKEN: 1,
        "list": [TOKEN, 5, None, True],
        "api_key": "never learned",
    }
    shown = redact.value(value)
    assert shown == {
        "note": f"use {TOKEN_NAME}",
        TOKEN_NAME: 1,
        "list": [TOKEN_NAME, 5, None, True],
        "api_key": "[redacted-str-13-v0.1]",
    }
    assert redact.value(shown) == shown
    assert redact("never learned") == "[redacted-str-13-v0.1]"  # it is known from then on


def test_a_call_is_replaced_by_its_tools_schemas(redact):
    other = Redactor(TOOLS)
    failed = replace(
        CALL,
        index=0,
        result=None,
        error=f"{TOKEN}: no",
        curl=f"curl x/{quote(TOKEN)}",
        drift=(TOKEN,),
    )
    redact.learn_call(failed, 1)
    shown = redact.value(failed)
    assert (shown.error, shown.curl, shown.drift) == (
        f"{TOKEN_NAME}: no",
        f"curl x/{TOKEN_NAME}",
        (TOKEN_NAME,),
    )
    unlearned = other.value(CALL)
    assert unlearned.arguments["user"] == "bo"
    assert all(map(is_placeholder, [unlearned.arguments["from_"], *unlearned.result.values()]))
    unknown = Redactor().value(CALL)
    assert [is_placeholder(unknown.arguments[name]) for name in CALL.arguments] == [
        False,
        True,
        False,
    ]


def test_what_is_masked_already_is_no_secret():
    redactor = Redactor(TOOLS)
    learn(redactor, {"password": "********"}, {"token": "[redacted-str-3-9.9.9]", "secret": "  "})
    assert redactor.placeholders == frozenset()
    assert redactor("  ******** []") == "  ******** []"


PROGRAM = """
password = "hunter2!"
box = {"api_key": "k-123456", "n": 1}
rows = login(user="bo", password=password, from_="zz-top")
await asyncio.to_thread(login, **{"from_": "to-thread"})
headers = "Bearer eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSMeK"
other(secret=("a", "b"), token=rows["token"])
"""


def test_literals_are_learned_before_showing_a_program():
    redactor = Redactor(TOOLS)
    shown = redactor.value(events.ProgramWritten(0, Program(PROGRAM), ())).program.source
    for secret in ("hunter2!", "k-123456", "zz-top", "to-thread"):
        assert secret not in shown
    assert 'user="bo"' in shown
    assert redactor("hunter2!") == "[redacted-str-8-p0.1]"
    redactor.learn_program(Program("not Python: password = "))
    redactor.learn_program(Program("password = 'another one'"))
    assert redactor("another one") == "[redacted-str-11-p1.1]"


def test_secrets_within_texts_are_found():
    redactor = Redactor(TOOLS)
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u"
    secrets = [
        "ghp_0123456789abcdefghijABCDEFGHIJ0123",
        "hunter2!",
        "sig+value",
        "in-json-text",
        "sid-1234",
        jwt,
        "abcdef99",
    ]
    response = {
        "value": f"use {secrets[0]} for it",
        "dsn": f"postgres://bo:{quote(secrets[1])}@db/x",
        "link": f"https://s3/x?page_token=abcdefgh&X-Amz-Signature={quote(secrets[2], safe='')}",
        "body": json.dumps({"password": secrets[3], "name": "Bo"}),
        "headers": {"Set-Cookie": f"sid={secrets[4]}; Path=/accounts/all"},
        "note": jwt,
        "text": f"API_KEY={secrets[6]}\nNAME=whatever",
    }
    learn(redactor, {}, response)
    shown = redactor(" | ".join([*secrets, "abcdefgh", "Bo", "/accounts/all", "whatever"]))
    assert PLACEHOLDER.sub("*", shown) == " | ".join(
        [*"*******", "abcdefgh", "Bo", "/accounts/all", "whatever"]
    )


def test_a_reply_is_restored_within_its_literals(redact):
    shown = redact(
        f"login(user='bo', password='hunter2!', token={TOKEN!r}, other=f'{TOKEN_NAME}/x')"
    )
    got = {}
    exec(
        redact.restore(shown), {"login": got.update} | {"login": lambda **given: got.update(given)}
    )
    assert got == {"user": "bo", "password": "hunter2!", "token": TOKEN, "other": f"{TOKEN}/x"}
    assert json.loads(redact.restore(f'{{"token": "{TOKEN_NAME}"}}')) == {"token": TOKEN}
    assert redact.restore("x = '[redacted-str-9-7.7.7]'") == "x = '[redacted-str-9-7.7.7]'"
    learn(redact, {}, {"pin": 1234})
    assert redact.restore(redact("pay(pin=1234)")) == "pay(pin=1234)"


def test_a_hostile_value_cannot_leave_its_literal():
    redactor = Redactor(TOOLS)
    evil = '"""\'; steal(); x = \'{y}\\\n🙂'
    learn(redactor, {}, {"token": evil})
    name = redactor(evil)
    assert is_placeholder(name)
    for quotes in ("'", '"', '"""'):
        assert eval(redactor.restore(f"{quotes}{name}{quotes}")) == evil
    assert eval(redactor.restore(f"f'{name}'")) == evil


def test_concurrent_learning_never_reveals_known_secrets():
    redactor = Redactor(TOOLS)
    learn(redactor, {"password": "known-before"}, {"pin": "4711"}, at=(9, 0))
    text = "known-before 4711 " * 20
    wrong = []

    def learn_many(first):
        for i in range(first, first + 60):
            learn(redactor, {"password": f"secret{i}x"}, {"pin": str(1000 + i)}, at=(0, i))

    def read():
        wrong.extend(
            shown
            for shown in (redactor(text) for _ in range(60))
            if "known-before" in shown or "4711" in shown
        )

    threads = [threading.Thread(target=learn_many, args=(n * 100,)) for n in range(3)] + [
        threading.Thread(target=read) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert all("secret" not in redactor(f"a secret{i}x").removeprefix("a ") for i in range(60))


SECRETS = st.lists(
    # A text with brackets may come about where a placeholder meets other text.
    st.text(st.characters(codec="utf-8", exclude_characters="[]"), min_size=6, max_size=40)
    | st.text("ab01-", min_size=6, max_size=12),
    min_size=1,
    max_size=6,
)


def learned(secrets):
    redactor = Redactor(TOOLS)
    for number, secret in enumerate(secrets):
        assume(secret.strip())
        assume(not is_blank_or_mask(secret))
        learn(redactor, {"from_": secret}, None, at=(0, number))  # marked, so that any value counts
    return redactor


@given(SECRETS, st.data())
def test_no_secret_survives_in_any_text(secrets, data):
    redactor = learned(secrets)
    pieces = data.draw(
        st.lists(
            st.sampled_from(secrets) | st.text(max_size=10) | st.text("ab01-", max_size=10),
            max_size=12,
        )
    )
    spell = data.draw(st.sampled_from([str, json.dumps, quote_plus, repr, html.escape]))
    text = "".join(spell(piece) for piece in pieces)
    shown = redactor(text)
    without = PLACEHOLDER.sub("\0", shown)
    for secret in secrets:
        if "\0" not in secret:
            assert secret not in without
            assert spell(secret) not in without
    assert redactor(shown) == shown
