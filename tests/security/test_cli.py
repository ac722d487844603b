"""Errors at the command line: one sentence, one shape as JSON, the right exit code. And all JSON is valid."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

SECRET = "s3cret-token-value"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Variables for a fresh user, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ATC_", "OPENAI_"))
    }
    folders = {"ATC_STATE_DIR": "state", "ATC_CACHE_DIR": "cache", "XDG_CONFIG_HOME": "config"}
    return (
        kept
        | {name: str(tmp_path / folder) for name, folder in folders.items()}
        | {"PYTHONPATH": str(ROOT)}
    )


@pytest.fixture
def atc(environment):
    def run(*arguments, **variables):
        """Run one command and check what holds for every one: no traceback, and of an error one line on stderr."""
        env = environment | variables
        done = commands.run(
            arguments, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL
        )
        assert "Traceback" not in done.stderr
        assert "a bug in atc" not in done.stderr
        return done

    return run


def strict(text):
    """The one JSON document of `text`, by the rules of JSON itself."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def document(url, *, schemes=None, name="get_value", path="/value"):
    """An OpenAPI document with one operation, which needs the only one of `schemes`."""
    operation = {
        "operationId": name,
        "summary": "A value.",
        "security": [{scheme: []} for scheme in schemes or {}],
        "responses": {
            "200": {"description": "It.", "content": {"application/json": {"schema": {}}}}
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": url}],
        "paths": {path: {"get": operation}},
        "components": {"securitySchemes": schemes or {}},
    }


@pytest.fixture
def tools(tmp_path):
    """A function that writes a document, and gives the arguments that name it."""

    def write(*arguments, **options):
        (tmp_path / "api.json").write_text(json.dumps(document(*arguments, **options)))
        return "--tools", "api.json"

    return write


def completion(program):
    message = {"role": "assistant", "content": f"```python\n{program}\n```"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]})


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("run --json", 2),
        ("run x --no-such-option --json", 2),
        ("no-such-verb --json", 2),
        ("check missing.py --json --tools api.json", 2),
        ("tools show nothing --json --tools api.json", 2),
        ("tools call get_value --json --tools api.json nothing=1", 2),
        ("tools list --json --tools http://127.0.0.1:1/openapi.json", 3),
        ("run x --json --tools api.json --model gpt-x", 3),
        ("models test --json --model recorded:missing.jsonl", 3),
        ("runs show nothing --json", 2),
        ("runs replay missing.json --json", 2),
        ("bench run nothing --json", 2),
        ("probe http://127.0.0.1:1/openapi.json -o out --json", 3),
        ("tools call get_value --json --tools api.json", 1),
    ],
)
def test_every_verb_reports_errors_as_json(atc, tools, line, code):
    tools("http://127.0.0.1:1")
    done = atc(*line.split())
    told = strict(done.stdout)
    assert done.returncode == code
    assert told["kind"] == {1: "failed", 2: "usage", 3: "environment"}[code]
    assert "\n" not in told["error"]
    assert done.stderr.splitlines()[-1] == f"atc: {told['error']}"


def test_a_failed_run_tells_why_beside_its_attempts(atc, tools):
    with serving(
        lambda seen: completion("print(1 / 0)") if seen.method == "POST" else Reply(404)
    ) as model:
        flags = tools("http://127.0.0.1:1")
        done = atc("run", "x", "--json", "--model", "m", *flags, OPENAI_BASE_URL=f"{model.url}/v1")
    told = strict(done.stdout)
    assert (done.returncode, told["status"], told["kind"]) == (1, "failed", "failed")
    assert "ZeroDivisionError" in told["error"]


def test_a_refused_key_is_not_shown(atc, tools):
    with serving(
        lambda seen: Reply(401, {"error": {"message": f"Incorrect API key: {SECRET}"}})
    ) as model:
        flags = tools("http://127.0.0.1:1")
        variables = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": f"{model.url}/v1"}
        done = atc("run", "x", "--json", "--model", "m", *flags, **variables)
    told = strict(done.stdout)
    assert (done.returncode, told["kind"]) == (3, "environment")
    assert "set OPENAI_API_KEY to a valid one" in told["error"]
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "body", [b'{"choices": "x"}', b'{"a":' * 3000, b'{"choices": [{"message": {"tool_calls": 1}}]}']
)
def test_a_nonsensical_endpoint_is_an_environment_error(atc, body):
    with serving(lambda seen: Reply(body=body) if seen.method == "POST" else Reply(404)) as model:
        done = atc("models", "test", "--json", "--model", "m", OPENAI_BASE_URL=f"{model.url}/v1")
    assert (done.returncode, strict(done.stdout)["kind"]) == (3, "environment")


@pytest.mark.parametrize("end", ["\n.", "ключ"])
def test_an_unsendable_key_is_not_shown(atc, end):
    with serving() as model:
        variables = {"OPENAI_API_KEY": SECRET + end, "OPENAI_BASE_URL": f"{model.url}/v1"}
        done = atc("models", "test", "--model", "m", **variables)
    assert done.returncode == 3
    assert "OPENAI_API_KEY" in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize(
    ("name", "scheme", "place", "wanted"),
    [
        ("ticketsAuth", {"type": "http", "scheme": "bearer"}, "authorization", f"Bearer {SECRET}"),
        ("tickets auth.v2", {"type": "apiKey", "in": "header", "name": "X-Key"}, "x-key", SECRET),
        ("key", {"type": "apiKey", "in": "query", "name": "api_key"}, "?", f"api_key={SECRET}"),
        ("login", {"type": "http", "scheme": "basic"}, "authorization", f"Basic {SECRET}"),
    ],
    ids=["bearer", "header", "query", "basic"],
)
def test_following_the_advice_about_a_missing_credential_works(
    atc, tools, name, scheme, place, wanted
):
    def answer(seen):
        given = seen.target.partition("?")[2] if place == "?" else seen.headers.get(place)
        return Reply(body={"id": 7}) if given == wanted else Reply(401)

    with serving(answer) as service:
        flags = tools(service.url, schemes={name: scheme})
        done = atc("tools", "call", "get_value", "--json", *flags)
        told = strict(done.stdout)
        assert (done.returncode, told["kind"], service.seen) == (3, "environment", [])
        line = "credentials." + told["error"].partition(": credentials.")[2]
        variable = line.partition('"env:')[2].partition('"')[0]
        # The file that `atc config show` names is the one whose lines count.
        file = Path(atc("config", "show").stderr.partition("read from ")[2].partition(" and ")[0])
        file.parent.mkdir(parents=True)
        file.write_text(f'{line}\n[credentials.other]\nvalue = "x"\nhosts = ["h"]\n')
        unset = atc("tools", "call", "get_value", "--json", *flags)
        assert (unset.returncode, service.seen) == (3, [])
        assert f"the variable {variable} is not set" in strict(unset.stdout)["error"]
        done = atc("tools", "call", "get_value", *flags, **{variable: SECRET})
    assert (done.returncode, json.loads(done.stdout)) == (0, {"id": 7}), done.stderr


def test_advice_names_no_variable_of_a_document(atc, tools):
    flags = tools(
        "http://127.0.0.1:1",
        schemes={"AWS_SECRET_ACCESS_KEY": {"type": "http", "scheme": "bearer"}},
    )
    done = atc("tools", "call", "get_value", *flags)
    assert "credential" in done.stderr
    assert '"env:AWS_SECRET_ACCESS_KEY"' not in done.stderr
    assert 'value = "env:CREDENTIAL_AWS_SECRET_ACCESS_KEY"' in done.stderr


def test_impossible_numbers_are_errors_never_infinity(atc, tools):
    lacking = ["-" + "1" * 400 + ".0", "1" * 250 + "e90", "1e400", "NaN", "-Infinity", "1" * 5000]
    bodies = ["1" * 400, *lacking]
    with serving(lambda _: Reply(body=b'{"value": ' + bodies.pop(0).encode() + b"}")) as service:
        call = "tools", "call", "get_value", "--json", *tools(service.url)
        whole = atc(*call)
        assert (whole.returncode, strict(whole.stdout)["result"]) == (0, {"value": int("1" * 400)})
        for number in lacking:
            done = atc(*call)
            report = strict(done.stdout)
            assert (done.returncode, report["result"]) == (1, None), number
            assert (
                "no JSON number" in report["error"]
                or "4,300 digits for a whole number" in report["error"]
            ), number


def test_programs_and_runs_see_no_infinity(atc, tools):
    with (
        serving(
            lambda seen: (
                completion("print(get_value()['value'] > 1)")
                if seen.method == "POST"
                else Reply(404)
            )
        ) as model,
        serving(lambda _: Reply(body=b'{"value": ' + b"1" * 400 + b".5}")) as service,
    ):
        flags = tools(service.url)
        done = atc("run", "x", "--json", "--model", "m", *flags, OPENAI_BASE_URL=f"{model.url}/v1")
    told = strict(done.stdout)
    assert (done.returncode, told["status"]) == (1, "failed")
    assert "is no JSON number" in told["error"]


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity", "1" * 400 + ".0"])
def test_arguments_and_documents_hold_no_such_number(atc, tools, tmp_path, number):
    flags = tools("http://127.0.0.1:1")
    text = (tmp_path / "api.json").read_text()
    for given in (
        text.replace('"summary"', f'"x-number": {number}, "summary"'),
        f"x-number: {_yaml(number)}\n",
    ):
        (tmp_path / "odd.json").write_text(given)
        done = atc("tools", "list", "--json", "--tools", "odd.json")
        assert (done.returncode, strict(done.stdout)["kind"]) == (3, "environment")
        assert "is no JSON number" in done.stderr
    module = tmp_path / "bounds.py"
    module.write_text(
        'def find(low: float = float("-inf")) -> float:\n    """Find it."""\n    return low\n'
    )
    flags = "--tools", "bounds.py", "--json"
    assert (
        "default"
        not in strict(atc("tools", "show", "find", *flags).stdout)["inputSchema"]["properties"][
            "low"
        ]
    )
    assert (
        strict(atc("tools", "call", "find", *flags, "--allow-writes", "find").stdout)["result"]
        is None
    )
    done = atc("tools", "call", "find", *flags, f"low:={number}")
    assert (done.returncode, strict(done.stdout)["kind"]) == (2, "usage")


def _yaml(number):
    return {"NaN": ".nan", "-Infinity": "-.inf", "1e400": "1.0e+400"}.get(number, number)


def test_ctrl_c_during_the_model_exits_130(environment, tools, tmp_path):
    asked = threading.Event()

    def hang(seen):
        if seen.method != "POST":
            return Reply(404)
        asked.set()
        model.stop.wait(PATIENCE)
        return Reply(500)

    with serving(hang) as model:
        words = ["run", "x", "--json", "--model", "m", *tools("http://127.0.0.1:1")]
        env = environment | {"OPENAI_BASE_URL": f"{model.url}/v1"}
        with commands.Command(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        ) as process:
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert strict(out) == {"error": "interrupted.", "kind": "interrupted"}
    error, go_on = err.splitlines()[-2:]
    assert error == "atc: interrupted."
    assert go_on.startswith("Go on with: atc runs resume 2")
    assert "Traceback" not in err


def test_a_group_without_its_verb_shows_its_help(atc):
    done = atc("tools")
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: atc tools [OPTIONS] COMMAND")
    assert atc("tools", "list", "--", "--json").stdout == ""  # behind two dashes it is no flag
