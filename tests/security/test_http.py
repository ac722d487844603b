"""What a request may carry and where it may go, whatever arguments, servers and documents say."""

import json
import os
import subprocess
from contextlib import ExitStack

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.store import Store
from protocols.client import Credential, Invoker, InvokeSettings
from protocols.sources import load_tools
from tests.labs import commands
from tests.labs.loopback import Reply, serving, speaking
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

TEXT = {"type": "string"}
FREE = {"type": "object", "additionalProperties": True}


@pytest.fixture
def start(tmp_path):
    """`start(words…)` begins `atc` as a person would, with settings of its own."""
    started = []

    def begin(*words, script=None, **variables):
        env = {
            k: v
            for k, v in os.environ.items()
            if not (k.startswith(("ATC_", "XDG_")) or k.lower().endswith("_proxy"))
        }
        env |= {
            "XDG_CONFIG_HOME": str(tmp_path),
            "ATC_STATE_DIR": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            **variables,
        }
        options = {"cwd": tmp_path, "env": env, "text": True, "stdin": subprocess.DEVNULL}
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if "PYTHONPATH" in variables:  # which only a new Python takes into account
            process = subprocess.Popen([*commands.REAL, *map(str, words)], **options)
        else:
            process = commands.Command(words, script=script, **options)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def atc(start):
    """`atc(words…)` gives the exit status and all that was printed."""

    def run(*words, **more):
        process = start(*words, **more)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out + err

    return run


def document(tmp_path, url, operation, *, method="post", path="/orders", name="api.json"):
    """An OpenAPI document of one tool: `order`, or of a GET `orders`."""
    named = {"operationId": "orders", "description": "Lists the orders."} if method == "get" else {}
    told = {
        "operationId": "order",
        **named,
        "responses": {"200": {"description": "done"}},
        **operation,
    }
    text = {
        "openapi": "3.1.0",
        "info": {"title": "shop", "version": "1"},
        "paths": {path: {method: told}},
    }
    file = tmp_path / name
    file.write_text(json.dumps({**text, "servers": [{"url": url}]}))
    return file


def parameter(name, place="query", schema=TEXT, **more):
    return {"name": name, "in": place, "schema": schema, "required": place == "path", **more}


def form(**properties):
    schema = {"type": "object", "properties": properties}
    return {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}


DEST = {"type": "string", "enum": ["BOB-7"]}
META = parameter("meta", schema=FREE)
GIVEN = {"dest_ref": "BOB-7"}
IN_QUERY = {"parameters": [parameter("dest_ref", schema=DEST), META]}
COLLISIONS = {
    "query": (IN_QUERY, {**GIVEN, "meta": {"dest_ref": "EVE-9"}}, {}),
    "an argument that was left out": (IN_QUERY, {"meta": {"dest_ref": "EVE-9"}}, {}),
    "a list of one": (IN_QUERY, {**GIVEN, "meta": {"dest_ref[]": "EVE-9"}}, {}),
    "a field of it": (IN_QUERY, {**GIVEN, "meta": {"dest_ref.0": "EVE-9"}}, {}),
    "another case": (IN_QUERY, {**GIVEN, "meta": {"Dest_Ref": "EVE-9"}}, {}),
    "punctuation": (IN_QUERY, {**GIVEN, "meta": {"dest.ref": "EVE-9"}}, {}),
    "percent-encoded": (IN_QUERY, {**GIVEN, "meta": {"dest%5Fref": "EVE-9"}}, {}),
    "full width": (IN_QUERY, {**GIVEN, "meta": {"ｄest_ref": "EVE-9"}}, {}),
    "a control character": (IN_QUERY, {**GIVEN, "meta": {"dest_ref\0x": "EVE-9"}}, {}),
    "form": ({"requestBody": form(dest_ref=DEST, meta=FREE)}, {**GIVEN, "meta": {"dest_ref": "EVE-9"}}, {}),
    "query for a form": (
        {"parameters": [META], "requestBody": form(dest_ref=DEST)}, {**GIVEN, "meta": {"dest_ref": "EVE-9"}}, {},
    ),
    "query for a path": (
        {"parameters": [parameter("dest_ref", "path"), META]}, {**GIVEN, "meta": {"dest_ref": "EVE-9"}},
        {"path": "/to/{dest_ref}"},
    ),
    "query for a body": (
        {"parameters": [META], "requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "properties": {"dest_ref": DEST}}}}}},
        {**GIVEN, "meta": {"dest_ref": "EVE-9"}}, {},
    ),
    "a whole body for the query": (
        {"parameters": [parameter("dest_ref", schema=DEST)], "requestBody": {"content": {"application/json": {
            "schema": FREE}}}},
        {**GIVEN, "body": {"dest_ref": "EVE-9"}}, {},
    ),
    "two objects": (
        {"parameters": [parameter("more", schema=FREE), META]}, {"more": {"to": "BOB"}, "meta": {"to": "EVE"}}, {},
    ),
    "a declared field of another object": (
        {"parameters": [parameter("more", schema={"type": "object", "properties": {"to": TEXT}}), META]},
        {"meta": {"to": "EVE"}}, {},
    ),
    "deepObject": (
        {"parameters": [parameter("meta[to]"), {**META, "style": "deepObject"}]},
        {"meta_to": "BOB", "meta": {"meta[to]": "EVE"}}, {},
    ),
    "the address": (IN_QUERY, {"meta": {"kind": "b"}}, {"path": "/orders?kind=a"}),
    "a credential": (
        {"parameters": [META], "security": [{"key": []}]}, {"meta": {"api_key[]": "EVE-9"}}, {},
    ),
    "the method": (IN_QUERY, {"meta": {"_method": "DELETE"}}, {}),
    "header": (
        {"parameters": [parameter("X-Dest", "header", DEST), parameter("x_dest", "header")]},
        {"X_Dest": "BOB-7", "x_dest": "EVE-9"}, {},
    ),
    "cookies": (
        {"parameters": [parameter("dest_ref", "cookie", DEST), parameter("Cookie", "header")]},
        {**GIVEN, "Cookie": "dest_ref=EVE-9"}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "arguments", "where"), COLLISIONS.values(), ids=COLLISIONS.keys()
)
def test_no_argument_replaces_another(tmp_path, operation, arguments, where):
    config = Config(state_dir=tmp_path, samples=1, max_repairs=0, strategy="chain", allow_writes=())
    asked = []
    with serving() as server, ExitStack() as stack:
        (tmp_path / "atc").mkdir()
        credentials = {
            "key": Credential(value="s3cr3t", hosts=(server.netloc,), place="query", name="api_key")
        }
        invoker = stack.enter_context(Invoker(InvokeSettings(credentials=credentials)))
        tools = load_tools(str(document(tmp_path, server.url, operation, **where)), invoker=invoker)
        model = ScriptedModel(f"```python\nprint(order(**{arguments!r}))\n```")
        with Agent(
            tools, model=model, config=config, ask_person=lambda q: asked.append(q) or True
        ) as agent:
            solution = agent.run("Order it.")
        assert (asked, server.seen) == ([], [])
    (call,) = solution.attempts[-1].trace.calls
    assert call.outcome == "not_run"
    assert "in the place of" in call.error or "control character" in call.error


def test_honest_arguments_are_sent(tmp_path, atc):
    free = {"content": {"application/json": {"schema": FREE}}}
    told = {"parameters": [parameter("id", "path"), parameter("limit"), META], "requestBody": free}
    arguments = {
        "id": "5",
        "limit": "2",
        "meta": {"kind": "a", "Kind": "b", "c[]": 1},
        "body": {"id": 6, "limit": "2"},
    }
    with serving() as server:
        file = document(tmp_path, server.url, told, path="/orders/{id}")
        words = [f"{name}:={json.dumps(value)}" for name, value in arguments.items()]
        assert (
            atc("tools", "call", "order", *words, "--tools", file, "--allow-writes", "all")[0] == 0
        )
        assert server.last.target == "/orders/5?limit=2&kind=a&Kind=b&c%5B%5D=1"
        assert json.loads(server.last.body) == {"id": 6, "limit": "2"}


def test_a_credential_replaces_whatever_is_read_as_it(tmp_path, atc):
    (tmp_path / "atc").mkdir()
    with serving() as server:
        (tmp_path / "atc" / "config.toml").write_text(
            f'[credentials.k]\nvalue = "right"\nhosts = ["{server.netloc}"]\ncookie = "sid"\n'
        )
        told = {"parameters": [parameter("cookie", "header")], "security": [{"k": []}]}
        file = document(tmp_path, server.url, told, method="get")
        assert atc("tools", "call", "orders", "cookie=a=1;sid=forged;b=2", "--tools", file)[0] == 0
        assert server.last.headers["cookie"] == "a=1; b=2; sid=right"


@pytest.mark.parametrize(
    ("method", "status"), [("get", 302), ("get", 308), ("post", 303), ("post", 307)]
)
def test_no_call_is_redirected_to_another_origin(tmp_path, atc, method, status):
    with (
        serving() as other,
        serving(lambda _: Reply(status, b"", {"Location": f"{other.url}/x"})) as server,
    ):
        file = document(tmp_path, server.url, {}, method=method)
        name = "orders" if method == "get" else "order"
        code, said = atc("tools", "call", name, "--tools", file, "--allow-writes", "all")
        assert (code, other.seen, len(server.seen)) == (1, [], 1)
        assert f"the redirect leads to another origin, {other.url}/x" in said


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://localhost.:{port}",
        "http://127.0.0.2:{port}",
        "https://127.0.0.1:{port}",
        "//[::1]:{port}",
    ],
)
def test_no_document_is_fetched_from_another_origin(atc, elsewhere):
    def answer(seen):
        location = {
            "/old": "/older",
            "/older": elsewhere.format(port=server.netloc.partition(":")[2]) + "/new",
        }
        return Reply(302, b"", {"Location": location[seen.path]})

    with serving(answer) as server:
        code, said = atc("tools", "list", "--tools", f"{server.url}/old")
        assert code == 3
        assert "the redirect leads to another origin, " in said
        assert "/new; if you trust it, give that address yourself" in said
        assert [seen.path for seen in server.seen] == ["/old", "/older"]


def test_internet_documents_name_no_local_service(tmp_path, atc):
    def proxy(_):
        return Reply(body=json.loads(document(tmp_path, here, {}).read_text()))

    with serving() as service, serving(proxy) as server:
        port = service.netloc.partition(":")[2]
        for here in [
            service.url,
            f"http://localhost.:{port}",
            f"http://[::ffff:127.0.0.1]:{port}",
            "http://169.254.169.254",
        ]:
            code, said = atc(
                "tools", "list", "--tools", "http://api.example/openapi.json", http_proxy=server.url
            )
            assert code == 2
            assert f"calls {here}, but the document comes from api.example" in said
        assert service.seen == []


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f.0.0.1", "127.1", "0177.0.0.1", "127.0.0.1.", "１２７.1"]
)
def test_an_address_has_one_spelling(tmp_path, atc, host):
    with serving() as server:
        file = document(
            tmp_path, f"http://{host}:{server.netloc.partition(':')[2]}", {}, method="get"
        )
        code, said = atc("tools", "call", "orders", "--tools", file)
        assert (code, server.seen) == (2, [])
        assert "is not an IPv4 address of four decimal numbers" in said


def test_an_internet_name_does_not_lead_here(tmp_path, atc):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import socket\nreal = socket.getaddrinfo\n"
        "socket.getaddrinfo = lambda host, *a, **k: real('127.0.0.1' if host == 'api.example' else host, *a, **k)\n"
    )
    names = {"PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{ROOT}"}
    with serving() as server:
        address = f"http://api.example:{server.netloc.partition(':')[2]}"
        file = document(tmp_path, address, {}, method="get")
        code, said = atc("tools", "call", "orders", "--tools", file, **names)
        assert (code, server.seen) == (1, [])
        assert "api.example is at 127.0.0.1, on this machine or its own network" in said
        assert f"give 'SOURCE@{address}'" in said
        assert atc("tools", "call", "orders", "--tools", f"{file}@{address}", **names)[0] == 0


def endless(start, piece):
    def script(connection, server):
        connection.sendall(start)
        while not server.stop.wait(0.02):
            connection.sendall(piece)

    return script


ENDLESS = {
    "status": endless(b"", b"x"),
    "header": endless(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "100": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "103": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "chunk size": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    "chunk extension": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "trailers": endless(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"A: b\r\n"
    ),
    "body": endless(b"HTTP/1.1 200 OK\r\n\r\n{", b" "),
}


def test_every_document_has_a_deadline(start):
    with ExitStack() as stack:
        servers = [stack.enter_context(speaking(script)) for script in ENDLESS.values()]
        found = [start("tools", "list", "--tools", f"{server.url}/d") for server in servers]
        for process in found:
            said = process.communicate(timeout=PATIENCE)[1]
            assert "did not send a whole document within 15 s" in said


def test_answers_that_announce_another_are_passed_over(tmp_path, atc):
    body = document(tmp_path, "http://127.0.0.1:1", {}).read_bytes()

    def announce(connection, _):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        connection.sendall(
            b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + head + body
        )

    with speaking(announce) as server:
        assert "order" in atc("tools", "list", "--tools", f"{server.url}/openapi.json")[1]


def test_scripts_send_what_the_run_sent(tmp_path, atc, start):
    told = {"parameters": [parameter("sid", "cookie"), parameter("id")]}

    def answer(seen):
        moved = seen.query == [("id", "moved")]
        return (
            Reply(307, b"", {"Location": f"{other.url}/x"})
            if moved
            else Reply(body={"ok": True, "more": 1})
        )

    with (
        serving() as other,
        serving(answer) as server,
        Store(tmp_path / "runs.sqlite") as store,
    ):
        tools = load_tools(str(document(tmp_path, server.url, told)))
        program = (
            "print(order(sid='a b; admin=1', id='1')['ok'])\n"
            "try:\n    order(sid='x', id='moved')\nexcept ToolError as error:\n    print(error.status)"
        )
        config = Config(
            state_dir=tmp_path, samples=1, max_repairs=0, strategy="chain", allow_writes=("all",)
        )
        with Agent(
            tools, model=ScriptedModel(f"```python\n{program}\n```"), config=config, store=store
        ) as agent:
            assert agent.run("Order it.").answer == "True\n307"
        assert atc("runs", "export", "last", "--python", "-o", "order.py")[0] == 0
        code, said = atc(script="order.py")
        assert (code, len(server.seen)) == (1, 2)
        assert "order may change something" in said
        assert atc("--allow-writes", script="order.py") == (0, "True\n307\n")
        first, _, again, _ = server.seen
        assert (again.target, again.body) == (first.target, first.body)
        assert again.headers["cookie"] == first.headers["cookie"] == "sid=a%20b%3B%20admin=1"
        assert other.seen == []
