"""MCP servers over streamable HTTP."""

import json
import threading
from urllib.request import urlopen

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import SourceUnavailable, ToolError
from protocols.settings import McpServer
from protocols.sources import load_tools
from tests.labs.loopback import Reply, closed_port, serving

TOOLS = [
    {"name": "get_sum", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "add_note", "inputSchema": {"type": "object"}},
]
INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "sums", "version": "1"},
}


def speaking_mcp(call=lambda arguments: {"content": [], "structuredContent": {"result": 3}}):
    """What a server answers; `call` gives a result, or a whole `Reply`."""

    def answer(seen):
        if seen.method != "POST":
            return Reply(status=405)
        message = json.loads(seen.body)
        if "id" not in message:
            return Reply(status=202, body=b"")
        match message["method"]:
            case "initialize":
                result = INFO
            case "tools/list":
                result = {"tools": TOOLS}
            case "tools/call":
                result = call(message["params"].get("arguments"))
            case _:
                return Reply(
                    body={
                        "jsonrpc": "2.0",
                        "id": message["id"],
                        "error": {"code": -32601, "message": "no"},
                    }
                )
        return (
            result
            if isinstance(result, Reply)
            else Reply(body={"jsonrpc": "2.0", "id": message["id"], "result": result})
        )

    return answer


def failure(tool):
    with pytest.raises(ToolError) as caught:
        tool.call({})
    return caught.value


@pytest.mark.parametrize("spelling", ["mcp:{}/mcp", "calc=mcp:{}/mcp"])
def test_tools_are_listed_and_called(spelling):
    with serving(speaking_mcp()) as server, Invoker() as invoker:
        box = load_tools(spelling.format(server.url), invoker=invoker)
        assert list(box) == ["get_sum", "add_note"]
        assert {tool.source for tool in box.values()} == {"calc" if "calc" in spelling else "sums"}
        assert box["get_sum"].call({"a": 1}) == {"result": 3}
        assert all(seen.path == "/mcp" for seen in server.seen)


def test_a_credential_goes_to_its_host_alone():
    with serving(speaking_mcp()) as server:
        secret = Credential(value="s3cret-t0ken-value", hosts=(server.netloc,))
        servers = {"sums": McpServer(url=f"{server.url}/mcp", credential="key")}
        with Invoker(InvokeSettings(servers=servers, credentials={"key": secret})) as invoker:
            assert load_tools("mcp:sums", invoker=invoker)["get_sum"].call({}) == {"result": 3}
        assert {seen.headers.get("authorization") for seen in server.seen} == {
            "Bearer s3cret-t0ken-value"
        }
        server.seen.clear()
        elsewhere = Credential(value="s3cret-t0ken-value", hosts=("other.example",))
        refused = pytest.raises(SourceUnavailable, match=r"is configured for 'other\.example' only")
        with (
            Invoker(InvokeSettings(servers=servers, credentials={"key": elsewhere})) as invoker,
            refused,
        ):
            load_tools("mcp:sums", invoker=invoker)
        assert server.seen == []
        with Invoker(InvokeSettings(credentials={"key": secret})) as invoker:
            load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
        assert {seen.headers.get("authorization") for seen in server.seen} == {None}, (
            "nobody named it for this source"
        )


def test_a_redirect_to_another_origin_is_not_followed():
    with (
        serving() as other,
        serving(lambda _: Reply(status=307, headers={"Location": f"{other.url}/mcp"})) as server,
    ):
        with Invoker() as invoker, pytest.raises(SourceUnavailable, match="not followed"):
            load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
        assert other.seen == []


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(body=b"x" * 2_000_000), "over the limit of 1,000,000 bytes"),
        (Reply(body=b"{not json"), "parse"),
        (Reply(status=500, body={"oops": 1}), ""),
    ],
)
def test_a_call_that_goes_wrong(reply, says):
    with serving(speaking_mcp(lambda _: reply)) as server:
        with Invoker(InvokeSettings(max_body_bytes=1_000_000, trust_annotations=True)) as invoker:
            box = load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
            reading, writing = failure(box["get_sum"]), failure(box["add_note"])
        assert (reading.outcome, writing.outcome) == ("refused", "unknown")
        assert says in reading.body


def test_a_refused_credential_is_named_and_read_again():
    known = ["old-t0ken-value"]
    inner = speaking_mcp()

    def answer(seen):
        fits = seen.headers.get("authorization") == f"Bearer {known[-1]}"
        return inner(seen) if fits else Reply(401, {"error": "expired"})

    with serving(answer) as server:

        def read_again():
            return {"key": Credential(value=known[-1], hosts=(server.netloc,))}, {}

        settings = InvokeSettings(
            servers={"sums": McpServer(url=f"{server.url}/mcp", credential="key")},
            credentials=read_again()[0],
            places={"key": "the variable KEY"},
            read_again=read_again,
        )
        with Invoker(settings) as invoker:
            tool = load_tools("mcp:sums", invoker=invoker)["add_note"]
            known.append("new-t0ken-value")
            error = failure(tool)
            assert (error.status, error.outcome) == (401, "refused")
            told = f"add_note: {server.netloc} refused the credential 'key' (the variable KEY)"
            test = "renew it, and test it with: atc tools login mcp:sums"
            assert error.remedy == f"{told} (HTTP 401); {test}"
            assert tool.call({}) == {"result": 3}


def test_a_server_that_refuses_says_its_status():
    said = pytest.raises(SourceUnavailable, match=r"\(it said: HTTP 401\)")
    with serving(lambda _: Reply(401)) as server, Invoker() as invoker, said:
        load_tools(f"mcp:{server.url}/mcp", invoker=invoker)


def test_missing_servers_are_explained():
    with (
        Invoker() as invoker,
        pytest.raises(SourceUnavailable, match="gives no tools: All connection attempts failed"),
    ):
        load_tools(f"mcp:http://127.0.0.1:{closed_port()}/mcp", invoker=invoker)
    answer = speaking_mcp()

    def hangs_up(seen):
        reply = answer(seen)
        return Reply(reply.status, reply.body, {"Connection": "close"})

    with Invoker() as invoker:
        with serving(hangs_up) as server:
            box = load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
        closed_port(int(server.url.rpartition(":")[2]))
        first, second = failure(box["add_note"]), failure(box["add_note"])
        assert first.outcome == "unknown", "nobody knows how far the request came"
        assert (second.outcome, "connection attempts failed" in second.body) == ("not_run", True)
        assert second.remedy.startswith(f"add_note: the MCP server 'sums' ({server.url}/mcp): All")


def signing_in(pages):
    """An MCP server that wants a token, and the authorization server that gives one to who comes back with its code."""
    speak = speaking_mcp()

    def answer(seen):
        origin = f"http://{seen.headers['host']}"
        match seen.path:
            case (
                "/.well-known/oauth-protected-resource"
                | "/.well-known/oauth-protected-resource/mcp"
            ):
                return Reply(body={"resource": f"{origin}/mcp", "authorization_servers": [origin]})
            case "/.well-known/oauth-authorization-server":
                urls = {
                    "authorization_endpoint": "authorize",
                    "token_endpoint": "token",
                    "registration_endpoint": "reg",
                }
                told = {key: f"{origin}/{path}" for key, path in urls.items()}
                return Reply(
                    body={"issuer": origin, "code_challenge_methods_supported": ["S256"]} | told
                )
            case "/reg":
                return Reply(201, {**json.loads(seen.body), "client_id": "registered"})
            case "/authorize":
                asked = dict(seen.query)
                pages.append(asked)
                return Reply(
                    302,
                    b"",
                    {"Location": f"{asked['redirect_uri']}?code=c0de&state={asked['state']}"},
                )
            case "/token":
                assert b"code_verifier=" in seen.body
                return Reply(
                    body={
                        "access_token": "signed-in-t0ken",
                        "token_type": "Bearer",
                        "expires_in": 3600,
                    }
                )
        if seen.headers.get("authorization") != "Bearer signed-in-t0ken":
            return Reply(401, {}, {"WWW-Authenticate": "Bearer"})
        return speak(seen)

    return answer


def test_a_sign_in_happens_once(tmp_path):
    pages = []

    def browser(page):
        threading.Thread(target=lambda: urlopen(page).read(), daemon=True).start()

    with serving(signing_in(pages)) as server:
        kept = InvokeSettings(open_browser=browser, tokens=tmp_path / "tokens.json")
        for _ in range(2):
            with Invoker(kept) as invoker:
                assert load_tools(f"mcp:{server.url}/mcp", invoker=invoker)["get_sum"].call({}) == {
                    "result": 3
                }
        assert [page["code_challenge_method"] for page in pages] == ["S256"]
        with Invoker() as invoker, pytest.raises(SourceUnavailable, match="gives no tools"):
            load_tools(f"mcp:{server.url}/mcp", invoker=invoker)
