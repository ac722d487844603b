"""Endpoints that lie or never end: models, MCP servers, pages of a sign-in, names that change where they lead."""

import bz2
import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import zlib

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.openai import OpenAIModel
from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import ModelUnavailable, SourceUnavailable, ToolError
from protocols.model import Message
from protocols.sources import load_tools
from tests.labs import commands
from tests.labs.loopback import Reply, failure, http_tool, quick, serving, speaking
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("own_folders")  # of an environment that names no endpoint

KEY = "sk-verysecretkey000000"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
PROGRAM = {"choices": [{"message": {"content": "```python\nprint('found')\n```"}}]}
LARGE = b" " * 100_000_000
GZIP = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
PUBLIC = "93.184.216.34"


def endless(start, piece):
    """What writes `piece` again and again, as slowly as a test may wait for."""

    def script(connection, server):
        connection.sendall(start)
        while not server.stop.wait(0.02):
            connection.sendall(piece)

    return script


@pytest.fixture
def atc(tmp_path):
    """`atc(words…)` gives the exit status and all that was printed; variables are those of the command."""

    def run(*words, **variables):
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("ATC_", "XDG_", "OPENAI_"))
        }
        kept = {k: v for k, v in kept.items() if not k.lower().endswith("_proxy")}
        own = {
            "XDG_CONFIG_HOME": str(tmp_path),
            "ATC_STATE_DIR": str(tmp_path),
            "PYTHONPATH": str(ROOT),
        }
        done = commands.run(
            words, cwd=tmp_path, env=kept | own | variables, text=True,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def tool(tmp_path):
    """A file of one tool, which no test calls."""
    paths = {"/x": {"get": {"operationId": "get_x", "responses": {"200": {"description": "done"}}}}}
    document = {"openapi": "3.1.0", "info": {"title": "shop", "version": "1"}, "paths": paths}
    file = tmp_path / "api.json"
    file.write_text(json.dumps({**document, "servers": [{"url": "http://127.0.0.1:1"}]}))
    return file


def asked(atc, tool, url, *more, **variables):
    """What a run with the model at `url` ends with."""
    told = {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
        "ATC_MODEL_RETRIES": "0",
        **variables,
    }
    code, said = atc(
        "run", "Do it.", "--tools", tool, "--model", "m", "--strategy", "chain", *more, **told
    )
    assert KEY not in said
    assert "a bug in atc" not in said
    return code, said


@pytest.mark.parametrize(
    "script",
    [
        endless(HEAD + b"\r\n{", b" "),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
    ids=["body", "headers", "chunks", "1xx"],
)
def test_a_models_reply_has_one_deadline(atc, tool, script):
    with speaking(script) as server:
        code, said = asked(atc, tool, server.url, ATC_MODEL_TIMEOUT="1")
    assert (code, "gave no answer within 1 s" in said) == (3, True)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("identity", LARGE[:10_000_000]),
        ("gzip", gzip.compress(LARGE)),
        ("deflate", zlib.compress(LARGE)),
    ],
    ids=["plain", "gzip", "deflate"],
)
def test_a_models_reply_has_a_limit_after_decompression(atc, tool, encoding, body):
    with serving(lambda _: Reply(body=body, headers={"Content-Encoding": encoding})) as server:
        code, said = asked(atc, tool, server.url)
    assert (code, "the body is over the limit of 8,000,000 bytes" in said) == (3, True)


def emptiness(layers):
    """Compressed bytes that hold nothing; each further layer holds some hundred times more of the one within."""
    inner, front = b"\0\0\0\xff\xff" * 400_000, GZIP  # empty blocks
    for _ in range(layers - 1):
        inner, front = blocks(inner), GZIP + blocks(front)
        inner *= max(1, 1_000_000 // len(inner))
    return front + inner


def blocks(data):
    """`data` compressed, so that more may follow."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)


class Compressed(Reply):
    def __init__(self, layers, said):
        super().__init__(
            body=emptiness(layers), headers={"Content-Encoding": ", ".join(["gzip"] * layers)}
        )
        self.said = said


NOTHING_INSIDE = [
    pytest.param(Compressed(1, "compressed bytes that hold only 0"), id="one layer"),
    pytest.param(
        Compressed(4, "is encoded 4 times ('gzip, gzip, gzip, gzip'), where once is the most"),
        id="four layers",
    ),
]


@pytest.mark.parametrize("compressed", NOTHING_INSIDE)
def test_empty_replies_are_not_decompressed_forever(atc, tool, compressed):
    with serving(lambda _: compressed) as server:
        code, said = asked(atc, tool, server.url)
        with Invoker() as invoker, pytest.raises(ToolError) as caught:
            invoker.bind(http_tool(f"{server.url}/x"))({})
        with pytest.raises(SourceUnavailable) as refused:
            load_tools(f"{server.url}/openapi.json")
    assert compressed.said in str(refused.value)
    assert compressed.said in caught.value.body
    assert (code, compressed.said in said) == (3, True), said


@pytest.mark.parametrize("status", [301, 303, 307])
def test_a_model_endpoint_sends_nobody_elsewhere(atc, tool, status):
    with serving(lambda _: Reply(body=PROGRAM)) as inner:
        location = {"Location": f"{inner.url}/v1/chat/completions"}
        with serving(lambda _: Reply(status, b"", location)) as server:
            code, said = asked(atc, tool, server.url)
        assert (code, inner.seen) == (3, [])
        assert "the redirect leads to another origin" in said


def test_retries_end_with_the_runs_time(atc, tool):
    busy = Reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "300"})
    with serving(lambda _: busy) as server:
        more = {"ATC_MODEL_RETRIES": "4", "ATC_MODEL_TIMEOUT": "60"}
        code, said = asked(atc, tool, server.url, "--max-seconds", "200", **more)
        assert (code, len(server.seen)) == (3, 1)
    assert "slow down" in said


def said_by_a_model(text):
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


SHAPES = {
    "half a character": (
        200,
        b'{"choices": [{"message": {"content": "```python\\nprint(\\"\\ud800\\")\\n```"}}]}',
    ),
    "a channel without a message": (200, said_by_a_model("<|channel|>" + "a" * 100_000)),
    "blocks that do not end": (200, said_by_a_model("<think>" + "\n``` x" * 100_000)),
    "many blocks with marks": (200, said_by_a_model("```\nx = '<think>'\n```\n" * 20_000)),
    "a number for the text": (200, b'{"choices": [{"message": {"content": 7}}]}'),
    "a map of choices": (200, b'{"choices": {"0": {"message": {"content": "hi"}}}}'),
    "the key": (
        200,
        json.dumps(
            {"choices": [{"message": {"content": f"```python\nprint('{KEY}')\n```"}}]}
        ).encode(),
    ),
    "the key in the text of an error": (401, f"wrong key: {KEY}".encode()),
    "a deep error": (400, b'{"error": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"),
    "a parameter that is a list": (
        400,
        b'{"error": {"message": [{}], "param": ["temperature"], "code": {}}}',
    ),
}


@pytest.mark.parametrize(("status", "body"), SHAPES.values(), ids=SHAPES.keys())
def test_odd_model_answers_cause_no_bug(atc, tool, status, body):
    with serving(lambda _: Reply(status, body)) as server:
        code, _ = asked(atc, tool, server.url)
    assert code in (0, 1, 3)


@pytest.mark.parametrize("timings", ["x", [1], {"cache_n": "a", "prompt_n": []}])
def test_odd_timings_of_a_stream_cause_no_bug(atc, tool, timings):
    event = {"choices": [{"delta": {"content": "```python\nprint(1)\n```"}}], "timings": timings}
    body = f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode()
    streamed = {"Content-Type": "text/event-stream"}
    with serving(lambda _: Reply(200, body, streamed)) as server:
        code, _ = asked(atc, tool, server.url)
    assert code == 0


@pytest.mark.parametrize(
    "offered", [{"data": 7}, {"data": [1]}, {"data": [{"id": ["m"]}]}, {"data": {"id": "m"}}]
)
def test_a_list_of_models_may_be_anything(atc, offered):
    with serving(lambda _: Reply(body=offered)) as server:
        code, said = atc("models", "test", OPENAI_BASE_URL=f"{server.url}/v1")
    assert (code, "offers no model; load one there" in said) == (3, True)


def test_a_servers_charset_decompresses_nothing(atc, tool):
    odd = {"Content-Type": "application/json; charset=bz2"}
    with serving(lambda _: Reply(body=bz2.compress(LARGE), headers=odd)) as server:
        code, said = asked(atc, tool, server.url)
    assert (code, "answered with no JSON object" in said) == (3, True)


def find_city(name: str) -> str:
    """Return the name of a city."""
    return name


def test_impossible_token_counts_are_ignored(tmp_path):
    usage = {"prompt_tokens": 10**40, "completion_tokens": -5, "prompt_tokens_details": [1]}
    with serving(lambda _: Reply(body=PROGRAM | {"usage": usage})) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1")
        config = Config(state_dir=tmp_path, samples=1, max_repairs=0, strategy="chain")
        with Agent(load_tools(find_city), model=model, config=config) as agent:
            solution = agent.run("Do it.")
        model.close()
    assert (solution.answer, solution.usage.input_tokens, solution.usage.output_tokens) == (
        "found",
        0,
        0,
    )


# --- names


@pytest.fixture
def names(monkeypatch):
    """`names[host] = [address, …]`: what looking a host up gives, one after another, the last one for ever.

    Of the internet nothing is reached.
    """
    found = {}
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def answer(host, port, *more, **options):
        name = host.decode() if isinstance(host, bytes) else host
        known = found.get(name)
        address = known.pop(0) if known and len(known) > 1 else known[0] if known else host
        return look_up(address, port, *more, **options)

    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(
            "127."
        ):
            raise OSError(101, "Network is unreachable")
        return connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket.socket, "connect", guarded)
    return found


def test_a_changed_name_does_not_lead_here(names):
    names["api.example"] = [PUBLIC, "127.0.0.1"]
    with serving() as server:
        place = f"api.example:{server.netloc.partition(':')[2]}"
        invoker, _ = quick(credentials={"key": Credential(value="s3cret-t0ken", hosts=(place,))})
        with invoker:
            call = invoker.bind(http_tool(f"http://{place}/x"))
            for _ in range(2):
                with pytest.raises(ToolError) as caught:
                    call({})
        assert server.seen == []
    assert "api.example is at 127.0.0.1, on this machine" in caught.value.body


def test_a_look_up_has_a_deadline(monkeypatch):
    going, over = threading.Event(), threading.Event()

    def hanging(*_, **__):
        over.wait(PATIENCE)
        going.set()
        raise OSError("no address")

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    invoker, _ = quick(timeout_seconds=0.5)
    with invoker:
        assert (
            "no address of api.example was found in time"
            in failure(invoker, "http://api.example/x").body
        )
    assert not going.is_set()
    over.set()


# --- MCP over HTTP

INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "sums", "version": "1"},
}
LISTED = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}


def speaking_mcp(**hostile):
    """What an MCP server answers; `hostile` has a result, a `Reply` or a function of the request, by method."""

    def answer(seen):
        message = json.loads(seen.body) if seen.method == "POST" else {}
        if "id" not in message:
            return Reply(202 if message else 405, b"")
        method = message["method"]
        found = {"initialize": INFO, "tools_list": LISTED, **hostile}.get(method.replace("/", "_"))
        found = found(message) if callable(found) else found
        if isinstance(found, Reply):
            return found
        result = (
            {"error": {"code": -32601, "message": "no"}} if found is None else {"result": found}
        )
        return Reply(body={"jsonrpc": "2.0", "id": message["id"], **result})

    return answer


@pytest.fixture
def mcp():
    pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")


def called(url, **settings):
    """The error of a call of `look`."""
    with Invoker(InvokeSettings(**settings)) as invoker:
        box = load_tools(f"mcp:{url}/mcp", invoker=invoker)
        with pytest.raises(ToolError) as caught:
            box["look"].call({})
    return caught.value.body


@pytest.mark.usefixtures("mcp")
def test_an_mcp_answer_has_a_limit_after_decompression():
    bomb = Reply(body=gzip.compress(LARGE), headers={"Content-Encoding": "gzip"})
    with serving(speaking_mcp(tools_call=bomb)) as server:
        said = called(server.url)
    assert "over the limit of 16,000,000 bytes" in said
    assert "allow more with limits.max_response_mb" in said


@pytest.mark.usefixtures("mcp")
@pytest.mark.parametrize("compressed", NOTHING_INSIDE)
def test_empty_mcp_answers_are_not_decompressed_forever(compressed):
    with serving(speaking_mcp(tools_call=compressed)) as server:
        assert compressed.said in called(server.url)


@pytest.mark.usefixtures("mcp")
def test_a_list_of_tools_comes_to_an_end():
    pages = iter(range(10**6))
    more = {"tools_list": lambda _: {**LISTED, "nextCursor": str(next(pages))}}
    refused = pytest.raises(SourceUnavailable, match="does not end within 100 pages")
    with serving(speaking_mcp(**more)) as server, Invoker() as invoker, refused:
        load_tools(f"mcp:{server.url}/mcp", invoker=invoker)


def signing_in(place, **pages):
    """An MCP server that wants a sign-in, whose metadata is at `place`; `pages` by the end of their path."""

    def answer(seen):
        found = next(
            (page for name, page in pages.items() if seen.path.rpartition("/")[2] == name), None
        )
        if found is not None:
            return Reply(201 if seen.method == "POST" else 200, found)
        return Reply(401, {}, {"WWW-Authenticate": f'Bearer resource_metadata="{place}"'})

    return answer


@pytest.mark.usefixtures("mcp")
def test_sign_ins_reach_no_local_service(names):
    names["mcp.example"] = ["127.0.0.1"]
    with serving() as inner:
        port = inner.netloc.partition(":")[2]
        with serving(signing_in(f"http://rebind.example:{port}/x")) as server:
            for public in (1, 2, 3):
                names["rebind.example"] = [PUBLIC] * public + ["127.0.0.1"]
                with (
                    Invoker(InvokeSettings(open_browser=lambda _: None)) as invoker,
                    pytest.raises(SourceUnavailable),
                ):
                    load_tools(
                        f"mcp:http://mcp.example:{server.netloc.partition(':')[2]}/mcp",
                        invoker=invoker,
                    )
            assert server.seen
        assert inner.seen == []


@pytest.mark.usefixtures("mcp")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_servers_name_no_local_sign_in(names, monkeypatch, host):
    names["mcp.example"] = [PUBLIC]
    monkeypatch.setenv("no_proxy", f"{host},127.0.0.1")
    with serving() as inner:
        with serving(signing_in(f"http://{host}:{inner.netloc.partition(':')[2]}/x")) as internet:
            monkeypatch.setenv("http_proxy", internet.url)
            with (
                Invoker(InvokeSettings(open_browser=lambda _: None)) as invoker,
                pytest.raises(SourceUnavailable),
            ):
                load_tools("mcp:http://mcp.example/mcp", invoker=invoker)
            assert internet.seen
        assert inner.seen == []


@pytest.mark.usefixtures("mcp")
def test_the_browser_is_sent_to_no_service_here(names, monkeypatch):
    names["mcp.example"] = [PUBLIC]
    here = "http://mcp.example"
    pages = {
        "metadata": {"resource": f"{here}/mcp", "authorization_servers": [here]},
        "oauth-authorization-server": {
            "issuer": here, "code_challenge_methods_supported": ["S256"], "token_endpoint": f"{here}/token",
            "authorization_endpoint": "http://127.0.0.1:631/printers", "registration_endpoint": f"{here}/registered",
        },
        "registered": {"client_id": "c", "redirect_uris": ["http://127.0.0.1:38457/callback"]},
    }  # fmt: skip
    opened = []

    def browser(page):
        opened.append(page)
        raise AssertionError("it was sent there")

    with serving(signing_in(f"{here}/metadata", **pages)) as internet:
        monkeypatch.setenv("http_proxy", internet.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        settings = InvokeSettings(open_browser=browser)
        with (
            Invoker(settings) as invoker,
            pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1 is at"),
        ):
            load_tools(f"mcp:{here}/mcp", invoker=invoker)
    assert opened == []


@pytest.mark.usefixtures("mcp")
def test_a_stream_of_events_ends_with_its_call():
    closed = threading.Event()
    speak = speaking_mcp()

    def script(connection, server):
        """Answer requests, and the call of the tool with comments without end."""
        received = server.seen[-1].body
        while True:
            head, _, body = received.partition(b"\r\n\r\n")
            size = next(
                (
                    int(line[15:])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                ),
                0,
            )
            while len(body) < size:
                body += connection.recv(65536)
            if b'"tools/call"' in body:
                break
            seen = type(server.seen[-1])(head.split()[0].decode(), "/mcp", {}, body, ("", 0))
            reply = speak(seen)
            content = b"" if reply.status in (202, 405) else reply.content
            line = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            connection.sendall(line % (reply.status, len(content)) + content)
            received = connection.recv(65536)
            if not received:
                return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        try:
            while not server.stop.wait(0.02):
                connection.sendall(b": wait\n\n")
        except OSError:
            closed.set()

    with (
        speaking(script) as server,
        Invoker(InvokeSettings(timeout_seconds=3.0, start_seconds=6.0)) as invoker,
    ):
        box = load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
        with pytest.raises(ToolError, match=r"within 3 s; allow more with limits\.call_seconds"):
            box["look"].call({})
        assert closed.wait(PATIENCE)


ON_STDOUT = {
    "a line over the limit of 8,000,000 bytes": "for _ in range(16):\n    sys.stdout.write('x' * 1_000_000)\n",
    "over 5,000 requests before one was answered": (
        """sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\\n' * 50_000)\n"""
    ),
}


@pytest.mark.usefixtures("mcp")
@pytest.mark.parametrize(("problem", "code"), ON_STDOUT.items(), ids=["line", "requests"])
def test_what_a_command_writes_has_limits(tmp_path, problem, code):
    server = tmp_path / "server.py"
    server.write_text(f"import sys, time\n{code}sys.stdout.flush()\ntime.sleep(3600)\n")
    settings = InvokeSettings(
        confirm_start=lambda _: True, start_seconds=PATIENCE, max_body_bytes=8_000_000
    )
    with Invoker(settings) as invoker, pytest.raises(SourceUnavailable, match=problem):
        load_tools(f"mcp:{sys.executable} {server}", invoker=invoker)


ODD_VECTORS = {
    "an integer of 401 digits": [(0, [10**400, 1])],
    "a number that no model computes": [(0, [1e308, 1e308])],
    "a vector of vectors": [(0, [[1], [2]])],
    "an index used twice": [(0, [1, 2]), (0, [2, 1])],
}


@pytest.mark.parametrize("vectors", ODD_VECTORS.values(), ids=ODD_VECTORS.keys())
def test_vectors_are_numbers_in_index_order(atc, tool, vectors):
    reply = {"data": [{"index": index, "embedding": row} for index, row in vectors]}
    variables = {"OPENAI_API_KEY": KEY, "ATC_EMBEDDER": "openai:m", "ATC_MODEL_RETRIES": "0"}
    with serving(lambda _: Reply(body=reply)) as server:
        found = atc(
            "tools",
            "search",
            "x",
            "--tools",
            tool,
            "--method",
            "dense",
            OPENAI_BASE_URL=f"{server.url}/v1",
            **variables,
        )
    assert (
        found[0],
        "answered 'm' with what are no vectors of numbers, one for each index" in found[1],
    ) == (3, True)


@pytest.mark.usefixtures("mcp")
def test_the_stderr_of_a_command_takes_no_disk(tmp_path):
    """A file that the command writes to ends at a megabyte; a pipe does not."""
    server = tmp_path / "server.py"
    server.write_text(
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "for _ in range(20):\n    os.write(2, b'x' * 100_000)\n"
        "sys.exit('\\n\\nall of it went')\n"
    )
    settings = InvokeSettings(confirm_start=lambda _: True, start_seconds=PATIENCE)
    with Invoker(settings) as invoker, pytest.raises(SourceUnavailable, match="all of it went"):
        load_tools(f"mcp:{sys.executable} {server}", invoker=invoker)


def test_an_unreachable_model_is_named_without_the_key():
    def echo(connection, _):
        connection.sendall(f"Bearer {KEY}\r\n\r\n".encode())

    with speaking(echo) as server:
        model = OpenAIModel("m", api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
        with pytest.raises(ModelUnavailable) as caught:
            model([Message("user", "Hi.")])
    assert KEY not in str(caught.value)
