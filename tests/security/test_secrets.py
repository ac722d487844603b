"""Secrets in odd places: the viewer's address, a source's address, plain texts; and names that programs make up."""

from __future__ import annotations

import http.client
import json
import os
import signal
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE
from tests.labs.tools import tool

SECRET = "Zq8XvT3mKp7LrW2nBd5HsJ9c"
TEXTS = {
    "header": "HTTP/1.1 200\nAuthorization: Bearer %s",
    "header of a key": "X-Api-Key: %s",
    "yaml": "db:\n  password: %s\n",
    "env": "export DB_PASSWORD='%s'",
    "json in a log": 'INFO login {"user": "a", "password": "%s"} ok',
    "cookie": "Set-Cookie: session=%s; HttpOnly",
    "words": "Your new password is %s",
    "error": "invalid token: %s",
    "markup": "<password>%s</password>",
    "ini": "[a]\npassword = %s\n",
    "command": "curl -u admin:%s https://x",
    "netrc": "machine x login y password %s",
    "table": "user,password\nbob,%s\n",
    "next line": "The password\n\n%s\n",
    "statement": "CREATE USER x IDENTIFIED BY '%s'",
    "webhook": "https://hooks.example.com/hooks/catch/%s",
    "Markdown": "**Password:** `%s`",
    "cells": "<tr><td>Password</td><td>%s</td></tr>",
    "HTML in words": "Your password is <strong>%s</strong>",
    "colours": "\x1b[1mPassword:\x1b[0m %s",
    "hidden characters": "pass\u200bword: %s",
    "wide letters": "ｐａｓｓｗｏｒｄ：%s",
    "escapes of a URL": "%%22password%%22%%3A%%22%s%%22",
    "entities": "password&#61;%s",
    "German": "Ihr Passwort lautet %s",
    "Spanish": "contraseña: %s",
    "Chinese": "您的密码是%s",
    "French": "Mot de passe\u00a0: %s",
    "anchor": "password: &p %s",
    "callback": "GET /cb?code=%s&state=x",
    "device": "snmp-server community %s RO",
    "login": "Login: bob / %s",
    "login in a chat": "who has the admin login?\nsure: bob / %s\nthanks",
    "account": "[smtp.shop.example]:587 bob@shop.example:%s",
    "French word": "compte bob , mdp %s , merci",
    "refresh": '{"session": {"refresh": "%s"}}',
}
MARKS = {
    "emphasis of a chat": "*Password:* %s",
    "italics": "_Password:_ %s",
    "list of terms": "<dt>Password</dt>\n<dd>%s</dd>",
    "bold name": "<b>Password:</b> %s",
    "bold value": "Password: <b>%s</b>",
    "board": "[b]Password:[/b] %s",
    "fields": ":Password: %s",
    "LaTeX": "\\textbf{Password:} %s",
    "arrow": "Password → %s",
    "leaders": "Password ......: %s",
    "lines": "<strong>Password</strong><br>%s",
    "struck": "Password: ~~%s~~",
    "property list": "<key>password</key>\n<string>%s</string>",
    "twice escaped": "password%%253D%s",
    "soft hyphen": "pass&shy;word: %s",
    "Russian": "Ваш пароль: %s",
    "Polish": "Hasło: %s",
    "access code": "Zugangscode: %s",
}
SECOND = "sommerregen-2024"
PAIRS = {
    "name and value": [{"name": "API Key", "value": SECOND}],
    "identifier": [{"id": "password", "value": SECOND}],
    "letters": {"k": "X-Api-Key", "v": SECOND},
    "label": {"label": "Password", "content": SECOND},
    "title": {"title": "API key", "text": SECOND},
    "input": {"type": "password", "value": SECOND},
    "change": {"field": "password", "old": None, "new": SECOND},
    "patch": {"op": "replace", "path": "/password", "value": SECOND},
    "columns": {"columns": ["user", "password"], "rows": [["bob", SECOND]]},
    "columns as objects": {
        "fields": [{"name": "user"}, {"name": "password"}],
        "data": [["bob", SECOND]],
    },
    "header row": [["user", "password"], ["bob", SECOND]],
    "pairs": {"headers": [["x-api-key", SECOND]]},
    "option": ["mysql", "--password", SECOND],
    "option of a user": ["curl", "-u", f"bob:{SECOND}"],
    "plural": {"tokens": {"bob": SECRET}},
    "Spanish": {"contraseña": SECOND},
    "answer": {"security_answer": SECOND},
}
ORDINARY = [
    "Set a password of at least eight characters.",
    "The token has expired; sign in again.",
    "token_type: bearer\nmax_tokens=4096",
    "password: required",
    "usage: tool [--password PASSWORD]",
    'headers = {"Authorization": f"Bearer {token}"}',
    "key: PROJ-1234",
    "commit 3f5a0c1d9b7e4f2a8c6d5e4f3a2b1c0d9e8f7a6b\n\n    Rotate the token",
    'password = os.environ["DB_PASSWORD"]',
    "postgres://user:password@localhost/db",
    "valueFrom:\n  secretKeyRef:\n    name: db",
    "Access Key: Ctrl+Shift+K",
    "Token: ERC-20",
    "S3 key=uploads/9f86d081.png",
    "<td>Password</td><td>Required</td>",
    "密码必须至少8个字符",
    "DB=postgres://${DB_USER}:${DB_PASSWORD}@db\nGIT_SHA=7995db39d86491217e9eacdd02a0d507056d905d\nBUILD=395442",
    "password: !secret mqtt_password",
    'curl -u "$USER:$API_TOKEN" -H "Authorization: Bearer ${KEY}" https://a.example',
    "STRIPE_SECRET_KEY=sk_live_your_key_here\nSITE_URL=http://localhost:8000",
    '$pw = Read-Host -AsSecureString "Password"',
    "kubectl create secret generic api --from-file=token=./token.txt",
    '<PackageReference Include="A" PublicKeyToken="30ad4fe6b2a6aeed" />',
    "| `API_TOKEN` | token of the account |\n| `DB_PASSWORD` | password of the user |",
    "secrets/db-password/versions/7\nserviceAccounts/tiles@osprey-412.iam.example.com",
    (
        "The password is ours:\n-----BEGIN CERTIFICATE-----\nyxc44qpiezVMKzWatPUeNPNL9M0tyRQ6C2MqNTMFEwHQYDVR0OBBYEFEmRcGU"
        "\n-----END CERTIFICATE-----"
    ),
    {"keys": [{"kty": "EC", "kid": SECRET, "x": "TThS1nFSyFuk3Y0ImaFzCJPa26B68f9So4Kp9jy1k3c"}]},
    {"label": "Password", "content": "Enter your new one"},
    {"type": "password", "id": "9f86d081aa", "email": "bob@example.com"},
    {"columns": ["name", "token", "price"], "rows": [["USD Coin", "USDC", 1.0]]},
]


def prompts(state: Path, text: object) -> str:
    """All that a model is told of a run whose program stumbles over a text."""
    programs = ("x = read_it()\nprint(str(x)[10**9])", "print(len(read_it()))")
    script = ScriptedModel(*(f"```python\n{program}\n```" for program in programs))
    config = Config(samples=1, strategy="chain", state_dir=state)
    toolbox = Toolbox([tool("read_it", lambda _: text)])
    with Agent(toolbox, model=script, config=config) as agent:
        assert agent.run("Look at it.").status == "solved"
    assert len(script.prompts) == 2
    return "\n".join(one.content for messages in script.prompts for one in messages)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_secret_of_a_text_reaches_the_prompt(own_folders, text):
    told = prompts(own_folders / "state", text % SECRET)
    assert SECRET not in told
    assert "[redacted-" in told


@pytest.mark.parametrize("value", PAIRS.values(), ids=PAIRS)
def test_secrets_named_elsewhere_reach_no_prompt(own_folders, value):
    told = prompts(own_folders / "state", value)
    assert SECRET not in told
    assert SECOND not in told
    assert "[redacted-" in told


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_reach_the_prompt_as_they_are(own_folders, text):
    assert "[redacted-" not in prompts(own_folders / "state", text)


def test_secrets_of_texts_are_never_shown(own_folders, atc_):
    """Each text has a secret of its own, so that none is covered for another one's sake."""
    texts = {
        name: (text, f"Zq8XvT3mKp7LrW2nBd5HsJ{n:02d}")
        for n, (name, text) in enumerate((TEXTS | MARKS).items())
    }
    pages = [{"page": name, "body": text % secret} for name, (text, secret) in texts.items()]
    pages += [
        {"page": "spelled", "body": "**Password:** som\u200bmer<b>regen</b>-2024"},
        *PAIRS.values(),
    ]
    Path("desk.py").write_text(
        f"def read_it() -> list:\n    '''Read.\n\n    read_only = True\n    '''\n    return {pages!r}\n"
    )
    programs = ("x = read_it()\nprint(x)\nprint(x[10**9])", "print(len(read_it()))")
    Path("replies.json").write_text(
        json.dumps([f"```python\n{program}\n```" for program in programs])
    )
    assert atc_("run", "Look.", "--tools", "desk.py", "--model", "scripted:replies.json")[0] == 0
    for words in (
        ["show", "last", "--json", "--prompts"],
        ["export", "last"],
        ["export", "last", "--html"],
    ):
        code, out, err = atc_("runs", *words)
        assert code == 0
        assert "[redacted-" in out
        assert not [name for name, (_, secret) in texts.items() if secret in out + err], words
        assert not [
            secret
            for secret in (SECRET, SECOND, "som\u200bmer", "som\\u200bmer")
            if secret in out + err
        ], words


@pytest.mark.parametrize(
    "place", ["/openapi.json?private_token=%s", "/%s/openapi.json", "/openapi.json#access_token=%s"]
)
def test_secrets_of_addresses_are_never_shown(own_folders, atc_, place):
    """It stays in the store's file, so that the run can be resumed."""

    def answer(request):
        operation = {
            "operationId": "get_x",
            "description": "Get the thing.",
            "responses": {"200": {"description": "It."}},
        }
        document = {
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "servers": [{"url": "/"}],
        }
        document["paths"] = {"/x": {"get": operation}}
        return Reply(
            body=document
            if "openapi" in request.path
            else {"you": f"came from {place % SECRET}", "n": 1}
        )

    Path("replies.json").write_text(json.dumps(['```python\nprint(get_x()["n"])\n```']))
    with serving(answer) as server:
        source = server.url + place % SECRET
        code, out, err = atc_(
            "run", "Look.", "--tools", source, "--model", "scripted:replies.json", "--json"
        )
        assert code == 0
        shown = [out, err]
        for words in (
            ["runs", "list", "--json"],
            ["runs", "show", "last", "--json", "--prompts"],
            ["runs", "export", "last"],
            ["runs", "export", "last", "--html"],
            ["tools", "list", "--tools", source, "--json"],
            ["serve", "--tools", source, "--print-config", "claude"],
            ["probe", source, "-o", "out", "--model", "none"],
        ):
            shown += atc_(*words)[1:]
    gone = f"http://127.0.0.1:1{place % SECRET}"
    shown += atc_("tools", "list", "--tools", gone)[1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATC_TOOLS", gone)
        shown += atc_("config", "show")[1:]
    learned = [*Path("out").rglob("*.json")]
    shown += [file.read_text() for file in learned]
    assert learned
    assert not [text for text in shown if SECRET in text]
    assert SECRET.encode() in b"".join(
        file.read_bytes() for file in own_folders.rglob("runs.sqlite*")
    )


# The viewer


def test_the_viewers_address_admits_one_browser(own_folders):
    browser = Path("browser.sh").absolute()
    browser.write_text(f'#!/bin/sh\necho "$@" > {browser}.txt\n')
    browser.chmod(0o700)
    env = os.environ | {"BROWSER": f"{browser} %s", "PYTHONPATH": str(ROOT)}
    silent = subprocess.DEVNULL
    with commands.Command(
        ["runs", "view"], env=env, stdin=silent, stdout=subprocess.PIPE, stderr=silent, text=True
    ) as viewer:
        try:
            printed = urlsplit(viewer.stdout.readline().strip())
            get = lambda path, **headers: ask(printed.netloc, path, headers)  # noqa: E731
            assert get(printed.path, Host="evil.example")[0] == 421
            status, headers, _ = get(printed.path)
            assert status == 303
            cookie, *attributes = headers["set-cookie"].split("; ")
            target = headers["location"]
            assert {f"Path={target}", "HttpOnly", "SameSite=Strict"} == set(attributes)
            assert target != "/"
            assert get(target, Cookie=cookie)[0] == 200
            assert get(target)[0] == 403
            assert (
                get(
                    target,
                    **{"Cookie": cookie, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
                )[0]
                == 403
            )
            status, headers, said = get(printed.path)
            assert status == 403
            assert "used already" in said
            assert "set-cookie" not in headers
            given = Path(f"{browser}.txt").read_text().strip()
            assert given.startswith("file://")
            page = Path(urlsplit(given).path)
            assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
            own = page.read_text().partition("url=http://")[2].partition('"')[0]
            assert own.partition("/")[2]
            assert own not in printed.geturl()
            linked = get(
                "/" + own.partition("/")[2],
                **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
            )
            assert (
                linked[0] == 200
            )  # a page that goes on by itself: a redirect would lose the cookie
            assert "set-cookie" in linked[1]
        finally:
            viewer.send_signal(signal.SIGINT)
    assert not page.exists()


def ask(netloc: str, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
    with closing(http.client.HTTPConnection(netloc, timeout=PATIENCE)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return (
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read().decode(),
        )


# What a program's process makes up


FORGED = {
    "a line of 300 digits": '{"call":0,"tool":"read_it","args":{},"line":1' + "0" * 300 + "}",
    "a line before the first": '{"call":0,"tool":"read_it","args":{},"line":-1}',
    "a call of 300 digits": '{"call":1' + "0" * 300 + ',"tool":"read_it","args":{},"line":1}',
    "a saved tool that is none": '{"call":0,"tool":"read_it","args":{},"line":1,"within":"\\u001b[31m"}',
    "a mark of 400 digits": '{"fail":{"kind":"exception","type":"E","message":"m","frames":[[1,"f",0,1,9]],"call":null,'
    '"hints":[[0,1,0,1,9,0,["a"],' + "9" * 400 + "]]}}",
}


@pytest.mark.parametrize("frame", FORGED.values(), ids=FORGED)
def test_impossible_numbers_and_names_end_the_run(frame):
    trace = forged(frame)
    assert trace.failure.type == "ProtocolViolation"
    assert trace.calls == ()
    assert len(trace.failure.message) < 200


def test_a_missing_line_is_none():
    trace = forged('{"call":0,"tool":"read_it","args":{},"line":99999}')
    assert [call.line for call in trace.calls] == [0]


def test_failure_names_have_the_shape_of_names():
    bad = "\\u001b]0;x\\u0007<img src=x>\\u202e"
    fail = f'{{"kind":"exception","type":"{bad}","message":"m","frames":[[1,"{bad}"]],"call":null}}'
    failure = forged(f'{{"fail":{fail}}}').failure
    for name in (failure.type, failure.frames[0].function):
        assert not set(name) & set("\x1b\x07\u202e= ]")


def forged(frame: str):
    """The trace of a program that writes a frame of its own."""
    source = f"import os, time\nos.write(3, {frame!r}.encode() + b'\\n')\nread_it()\n"
    sandbox = open_sandbox("zygote")
    try:
        toolbox = Toolbox([tool("read_it", lambda _: 1)])
        return sandbox.run(source, toolbox, limits=Limits(), journal=Journal())
    finally:
        sandbox.close()
