"""What a GET may do unasked: `probe`, `run`, `serve` and `tools call` ask about each that nothing shows to read."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager

import pytest
import yaml

from protocols.pagination import read_signs
from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paged_lists import NUMBER, TEXT, read
from tests.labs.paths import DATA, ROOT

GETS = yaml.safe_load((DATA / "gets.yaml").read_text(encoding="utf-8"))
RECORD = {"type": "object", "properties": {"id": {"type": "integer"}, "title": {"type": "string"}}}
ANSWERS = {"record": RECORD, "records": {"type": "array", "items": RECORD}}


@pytest.fixture
def shell(tmp_path):
    """The environment of a user's shell, and a folder of their own."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ATC_", "XDG_", "OPENAI_"))
    }
    env |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return {"cwd": tmp_path, "env": env | {"PYTHONPATH": str(ROOT)}, "text": True}


@pytest.fixture
def atc(shell):
    """Runs the command line with nobody at the terminal."""

    def run(*words):
        return commands.run(words, stdin=subprocess.DEVNULL, capture_output=True, **shell)

    return run


def document(get, url="https://api.example.org"):
    """One GET as a document of its own: a bare description, or OpenAPI where more is said than a path."""
    if isinstance(get, str):
        return f"GET {url}{get}"
    said = {
        key: value for key, value in get.items() if key in ("summary", "description", "parameters")
    }
    named = {"operationId": get["name"]} if "name" in get else {}
    answered = {"description": "ok"}
    if "answer" in get:
        answered["content"] = {"application/json": {"schema": ANSWERS[get["answer"]]}}
    operation = {**named, **said, "responses": {"200": answered}}
    info = {"title": "t", "version": "1"}
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": url}],
        "paths": {get["path"]: {"get": operation}},
    }


def sources(folder, gets, url="https://api.example.org"):
    """A source for each GET, so that none says anything of another; as words of the command line."""
    folder.mkdir()
    found = []
    for number, get in enumerate(gets):
        file = folder / f"s{number}.json"
        file.write_text(
            json.dumps([document(get, url)] if isinstance(get, str) else document(get, url))
        )
        found += ["--tools", f"s{number}={file}"]
    return found


@pytest.mark.parametrize("effect", ["acts", "reads"])
def test_a_get_reads_only_where_shown(atc, tmp_path, effect):
    gets = [get for kind in GETS[effect].values() for get in kind]
    listed = atc("tools", "list", "--json", *sources(tmp_path / "documents", gets))
    assert listed.returncode == 0, listed.stderr
    writes = {tool["source"]: tool["writes"] for tool in json.loads(listed.stdout)}
    wrong = [get for number, get in enumerate(gets) if writes[f"s{number}"] != (effect == "acts")]
    assert wrong == []


# --- the same at every door

DOORS = {
    "get_play": "/play",
    "get_licht_an": "/licht/an",
    "get_set_by_x": "/set/{x}",
    "get_status": "/status",
}
PROGRAM = "print(get_status(), get_play(), get_licht_an(), get_set_by_x(x='1'))"
ASKED = ["/play", "/licht/an", "/set/1"]


@pytest.fixture
def devices(tmp_path):
    """A service whose GETs act, but for one, and the file of their bare descriptions."""
    with serving(lambda _: Reply(body={"state": "on"})) as server:
        file = tmp_path / "devices.json"
        file.write_text(json.dumps([f"GET {server.url}{path}" for path in DOORS.values()]))
        yield server, file


def targets(server):
    return sorted({seen.target for seen in server.seen})


def test_probe_calls_no_acting_get(atc, devices):
    server, file = devices
    done = atc("probe", file, "-o", "out", "--per-tool", "2", "--rate", "1000", "--model", "none")
    assert targets(server) == ["/status"], done.stderr
    assert (
        "3 tools may change something and will not be called; --allow-writes lets it."
        in done.stderr
    )
    planned = atc("probe", file, "--dry-run")
    assert planned.stdout.count("nothing shows that it only reads") == 2
    atc(
        "probe",
        file,
        "-o",
        "out",
        "--per-tool",
        "2",
        "--model",
        "none",
        "--allow-writes",
        "get_licht_an",
    )
    assert targets(server) == ["/licht/an", "/status"]


def test_a_run_asks_before_acting_gets(atc, devices, tmp_path):
    server, file = devices
    (tmp_path / "script.json").write_text(json.dumps([f"```python\n{PROGRAM}\n```"] * 9))
    run = [
        "run",
        "Do it",
        "--tools",
        file,
        "--model",
        "scripted:script.json",
        "--strategy",
        "chain",
    ]
    paused = atc(*run)
    assert (paused.returncode, targets(server)) == (1, ["/status"]), paused.stderr
    assert "get_play may change something and was not allowed; nothing was sent." in paused.stderr
    allowed = atc(*run, *(word for name in list(DOORS)[:3] for word in ("--allow-writes", name)))
    assert allowed.returncode == 0, allowed.stderr
    assert [sum(seen.target == target for seen in server.seen) for target in ASKED] == [1, 1, 1]


def test_a_call_that_a_person_types_asks_too(atc, devices):
    server, file = devices
    refused = atc("tools", "call", "get_play", "--tools", file)
    assert (refused.returncode, server.seen) == (1, [])
    assert "may change something" in refused.stderr
    assert (
        atc("tools", "call", "get_play", "--tools", file, "--allow-writes", "get_play").returncode
        == 0
    )
    assert atc("tools", "call", "get_status", "--tools", file).returncode == 0


@contextmanager
def gateway(shell, *words):
    """`atc serve` over stdio: a function that calls a method and gives its result."""
    process = commands.Command(
        ["serve", *words], stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, **shell
    )

    def ask(number, method, params):
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        )
        process.stdin.flush()
        return next(m for line in process.stdout if (m := json.loads(line)).get("id") == number)[
            "result"
        ]

    with process:
        version = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        ask(1, "initialize", version)
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield lambda name, **given: ask(2, "tools/call", {"name": name, "arguments": given})
        process.stdin.close()


@pytest.mark.parametrize("plain", [False, True])
def test_a_gateway_asks_too(shell, devices, plain):
    pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")
    server, file = devices
    with gateway(shell, "--tools", file, *(["--as", "tools"] if plain else [])) as call:
        reply = call("get_play") if plain else call("run_program", source=PROGRAM)
    assert targets(server) == ([] if plain else ["/status"]), reply


def test_a_lost_acting_get_is_not_repeated(atc, tmp_path):
    with serving(lambda _: Reply(503, {"error": "busy"})) as server:
        file = tmp_path / "devices.json"
        file.write_text(json.dumps([f"GET {server.url}/play", f"GET {server.url}/status"]))
        for name in ("get_play", "get_status"):
            atc("tools", "call", name, "--tools", file, "--allow-writes", "all")
    sent = [seen.target for seen in server.seen]
    assert sent.count("/play") == 1
    assert sent.count("/status") > 1


def test_user_files_declare_reads_but_not_deletions(atc, tmp_path):
    tools = [
        {"name": name, "binding": {"http": {"method": "GET", "url": f"https://api.example.org{path}"}},
         "annotations": {"readOnlyHint": hint}}
        for name, path, hint in
        [("tip", "/tip", True), ("gone", "/users/{id}/delete", True), ("users", "/users", False)]
    ]  # fmt: skip
    (tmp_path / "own.json").write_text(json.dumps(tools))
    listed = json.loads(atc("tools", "list", "--json", "--tools", tmp_path / "own.json").stdout)
    assert {tool["name"]: tool["writes"] for tool in listed} == {
        "tip": False,
        "gone": True,
        "users": True,
    }


def test_fetched_documents_cannot_declare_reads(atc):
    hint = {"readOnlyHint": True}

    def answer(seen):
        own = {
            "name": "tip",
            "binding": {"http": {"method": "GET", "url": f"{server.url}/tip"}},
            "annotations": hint,
        }
        spec = document({"path": "/tip"}, server.url)
        spec["paths"]["/tip"]["get"] |= {"x-atc-annotations": hint}
        return Reply(body=spec if seen.target == "/openapi" else own)

    with serving(answer) as server:
        for path in ("/openapi", "/own"):
            [tool] = json.loads(
                atc("tools", "list", "--json", "--tools", f"{server.url}{path}").stdout
            )
            assert tool["writes"], path


def test_browser_recordings_prove_no_read(atc, tmp_path):
    response = {"status": 200, "content": {"mimeType": "application/json", "text": '{"ok": true}'}}
    urls = ["/relay/7", "/lampe/an", "/users/7"]
    entries = [
        {"request": {"method": "GET", "url": f"https://h.example{url}"}, "response": response}
        for url in urls
    ]
    (tmp_path / "r.har").write_text(json.dumps({"log": {"entries": entries}}))
    listed = json.loads(atc("tools", "list", "--json", "--tools", tmp_path / "r.har").stdout)
    assert [tool["writes"] for tool in listed] == [True, True, False]


@pytest.mark.parametrize(
    "query", ["delete_page=1", "page.method=DELETE", "cursor=x&purge-cursor=all", "_method=DELETE"]
)
def test_a_next_address_adds_nothing_that_acts(query):
    def answer(asked, _):
        return {"items": [{"n": 1}], "next": f"/items?{query}"}, {}

    pages, _, targets = read(answer)
    assert (len(pages), targets) == (1, ["/items"])


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"next": "/items?page=\u00b2"}, {}),
        ({"next": f"/items?page={'9' * 5000}"}, {}),
        ({"next": "/items?" + "&".join(f"cursor_{n}=1" for n in range(100_000))}, {}),
        ({"next_page": "\u00b2"}, {}),
        ({"page": 10**4299, "has_more": True}, {}),
        ({}, {"Content-Range": f"items 0-{'9' * 5000}/*"}),
        ({}, {"X-Total-Count": "9" * 5000}),
    ],
)
def test_impossible_page_numbers_end_no_run(body, headers):
    def answer(asked, _):
        return {"items": [{"n": 1}], **body}, headers

    pages, _, targets = read(answer, page=NUMBER, cursor=TEXT)
    assert len(pages) == 1
    assert len(targets) <= 3


def test_words_about_pages_are_quoted_short():
    signs = read_signs({"items": [], f"has_{'_' * 9999}\nmore": True}, {})
    assert signs.more
    assert len(signs.evidence) <= 100
    assert "\n" not in signs.evidence
