"""Where secrets go, and above all where they do not: a second server must never see one."""

import json
import logging
import subprocess
from importlib.util import find_spec

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.urls import split_url
from tests.labs.loopback import Reply, closed_port, failure, http_tool, quick, serving

SECRET = "s3cr3t/+ value"


def invoker(*hosts, value=SECRET, **credential):
    return Invoker(
        InvokeSettings(credentials={"k": Credential(value=value, hosts=hosts, **credential)})
    )


@pytest.fixture
def other():
    """The second server. Whatever the test did, no secret came here."""
    with serving(lambda _: Reply(body={"who": "other"})) as server:
        yield server
        assert not [seen for seen in server.seen if "s3cr3t" in seen.everything]


@pytest.mark.parametrize(
    ("credential", "arrives"),
    [
        ({}, lambda seen: seen.headers["authorization"] == f"Bearer {SECRET}"),
        ({"name": "X-Key", "prefix": ""}, lambda seen: seen.headers["x-key"] == SECRET),
        ({"place": "query", "name": "api key"}, lambda seen: ("api key", SECRET) in seen.query),
        (
            {"place": "cookie", "name": "sid"},
            lambda seen: seen.headers["cookie"] == f"sid={SECRET}",
        ),
    ],
)
def test_a_credential_goes_where_the_configuration_says(credential, arrives):
    with serving() as server, invoker(server.netloc, **credential) as calls:
        calls.bind(http_tool(f"{server.url}/p?a=1", credentials=("k",)))({"q": "x"})
        assert arrives(server.last)
        for undeclared in ((), ((),)):  # or denied by the document: sent where the user said how
            calls.bind(http_tool(server.url, credentials=undeclared))({})
            assert ("s3cr3t" in server.last.everything) is bool(credential)


@pytest.mark.parametrize("place", ["header", "query", "cookie"])
def test_credentials_replace_arguments_in_their_place(place):
    with (
        serving() as server,
        invoker(server.netloc, value="right", place=place, name="key", prefix="") as calls,
    ):
        tool = http_tool(server.url, credentials=("k",), locations={"x": place}, wire_names={"x": "Key" if place == "header" else "key"})  # fmt: skip
        calls.bind(tool)({"x": "forged"})
    assert "forged" not in server.last.everything
    assert "right" in server.last.everything


@pytest.mark.parametrize("hosts", [(), ("127.0.0.1:1",), ("*",)])
def test_a_credential_for_other_hosts_is_not_sent(other, hosts):
    with invoker(*hosts) as calls, pytest.raises(ToolError, match="is configured for") as caught:
        calls.bind(http_tool(other.url, credentials=("k",)))({})
    assert f"add '{other.netloc}' to credentials.k.hosts" in caught.value.body
    assert (caught.value.outcome, other.seen) == ("not_run", [])


@pytest.mark.parametrize(
    ("url", "hosts", "allowed"),
    [
        ("https://api.org/x", "api.org", True),
        ("https://api.org/x", "api.org:443", True),
        ("http://api.org/x", "api.org", False),
        ("http://localhost/x", "localhost", True),
        ("https://api.org.evil.net/x", "api.org", False),
        ("https://api.org./x", "api.org", False),
        ("http://[::1]:80/x", "[::1]", True),
        ("http://127.0.0.1:8000/x", "localhost:8000", True),
        ("http://localhost/x", "127.0.0.1", True),
        ("http://[::1]:8000/x", "localhost:8000", False),
        ("http://127.0.0.2:8000/x", "localhost:8000", False),
        ("http://localhost:8001/x", "127.0.0.1:8000", False),
    ],
)
def test_bare_hosts_mean_exact_https_origins(url, hosts, allowed):
    assert Credential(value="v", hosts=(hosts,)).may_go_to(split_url(url)[0]) is allowed


@pytest.mark.parametrize("value", ["", "a\r\nX: y"])
def test_a_broken_secret_is_neither_sent_nor_shown(other, value):
    with (
        invoker(other.netloc, value=value) as calls,
        pytest.raises(ToolError, match="credential 'k' is empty") as caught,
    ):
        calls.bind(http_tool(other.url, credentials=("k",)))({})
    assert (caught.value.outcome, other.seen) == ("not_run", [])


@pytest.mark.parametrize("place", ["header", "query", "cookie"])
def test_a_redirect_keeps_credentials_within_the_origin(place):
    def answer(seen):
        return (
            Reply(307, b"", {"Location": "/new?y=1"})
            if seen.path == "/old"
            else Reply(body="there")
        )

    with (
        serving(answer) as server,
        invoker(server.netloc, value="s3cr3t", place=place, name="key") as calls,
    ):
        assert calls.bind(http_tool(server.url + "/old", credentials=("k",)))({}) == "there"
    assert server.last.path == "/new"
    assert "s3cr3t" in server.last.everything


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://a@b/", "http://[bad/"])
def test_redirects_to_strange_addresses_are_not_followed(location):
    with serving(lambda _: Reply(302, b"", {"Location": location})) as server, quick()[0] as calls:
        assert failure(calls, server.url).status == 302
        assert len(server.seen) == 1


def test_redirects_end():
    with (
        serving(lambda seen: Reply(302, b"", {"Location": seen.path + "x"})) as server,
        quick()[0] as calls,
    ):
        assert "more than 5 redirects" in failure(calls, server.url).body
        assert len(server.seen) == 6


@pytest.mark.parametrize("end", [200, 404])
def test_see_other_makes_a_read(end):
    def answer(seen):
        return (
            Reply(303, b"", {"Location": "/made/1"})
            if seen.method == "POST"
            else Reply(end, {"id": 1})
        )

    with serving(answer) as server, invoker(server.netloc) as calls:
        create = calls.bind(
            http_tool(server.url, "POST", locations={"x": "body"}, credentials=("k",))
        )
        if end == 200:
            assert create({"x": 1}) == {"id": 1}
        else:  # the write was done, whatever became of reading its result
            with pytest.raises(ToolError) as caught:
                create({"x": 1})
            assert (caught.value.status, caught.value.outcome) == (404, "unknown")
        assert (server.last.method, server.last.target, server.last.body) == ("GET", "/made/1", b"")
        assert "authorization" in server.last.headers
        assert "content-type" not in server.last.headers


@pytest.mark.parametrize(
    ("method", "path", "status", "location", "followed"),
    [
        ("POST", "/items", 307, "/items/", True),
        ("DELETE", "/items", 308, "http://localhost:{port}/items/", True),
        ("POST", "/items?a=1&b=x%20y", 307, "/items/?a=1&b=x+y", True),
        ("PUT", "/items/", 308, "/items", True),
        ("POST", "/items?a=1", 307, "/items/", False),
        ("POST", "/items", 307, "/other/", False),
        ("POST", "/items", 301, "/items/", False),
        ("POST", "/items", 302, "/items/", False),
        ("POST", "/items", 308, "https://127.0.0.1:{port}/items/", False),
        ("POST", "/items", 308, "http://[::1]:{port}/items/", False),
    ],
)
@pytest.mark.parametrize("place", ["header", "query"])
def test_a_post_is_redirected_by_a_slash(method, path, status, location, followed, place):
    def answer(seen):
        if len(server.seen) > 1:
            return Reply(body="done")
        return Reply(status, b"", {"Location": location.format(port=server.netloc.split(":")[1])})

    binding = {"locations": {"x": "body"}, "credentials": ("k",)}
    with serving(answer) as server, invoker(server.netloc, place=place, name="key") as calls:
        call = calls.bind(http_tool(server.url + path, method, **binding))
        if not followed:
            with pytest.raises(ToolError, match=r"is not sent on|another origin"):
                call({"x": 1})
            assert len(server.seen) == 1
            return
        assert call({"x": 1}) == "done"
        first, second = server.seen
    assert (second.method, second.body) == (method, first.body)
    assert second.target.replace("/items/", "/items") == first.target.replace("/items/", "/items")
    assert second.target != first.target
    assert second.headers.get("key") == first.headers.get("key")


def test_a_post_is_sent_on_only_once():
    def answer(seen):
        return Reply(307, b"", {"Location": "/a" if seen.path == "/a/" else "/a/"})

    with serving(answer) as server, quick()[0] as calls:
        error = failure(calls, f"{server.url}/a", "POST")
        assert "write it into the tool's document" in error.body
        assert (len(server.seen), error.outcome) == (2, "refused")


def test_neither_netrc_nor_cookies_are_used(tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cr3t\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with (
        serving(lambda _: Reply(body=1, headers={"Set-Cookie": "sid=1; Path=/"})) as server,
        Invoker() as calls,
    ):
        call = calls.bind(http_tool(server.url))
        call({})
        call({})
        assert "authorization" not in server.last.headers
        assert "cookie" not in server.last.headers


@pytest.mark.skipif(find_spec("socks") is not None, reason="with PySocks it works")
def test_without_pysocks_no_socks_call_is_sent(monkeypatch):
    monkeypatch.setenv("http_proxy", "socks5h://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with quick()[0] as calls:
        error = failure(calls, "http://api.example", "POST")
    assert "Missing dependencies for SOCKS support" in error.body
    assert error.outcome == "not_run"


def test_secrets_are_masked_wherever_a_server_puts_them(caplog):
    said = {
        "detail": f"bad key {SECRET} in ?key=s3cr3t%2F%2B%20value or s3cr3t%2f%2b%20value or s3cr3t%2F%2B+value"
    }
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="urllib3.connectionpool")
    with serving(lambda seen: Reply(403 if seen.path == "/no" else 200, said)) as server:
        with invoker(server.netloc, place="query", name="key") as calls:
            with pytest.raises(ToolError) as caught:
                calls.bind(http_tool(server.url + "/no", credentials=("k",)))({"q": SECRET})
            assert caught.value.body == "bad key *** in ?key=*** or *** or ***"
            assert "s3cr3t" not in repr(vars(caught.value)) + repr(caught.value.__context__)
            echoed = calls.bind(http_tool(server.url, credentials=("k",)))({})
            assert "s3cr3t" not in str(echoed)
        assert "s3cr3t" not in repr(calls.settings)
    assert "s3cr3t" not in caplog.text


def test_a_connection_error_does_not_show_the_query():
    port = closed_port()
    with (
        invoker(f"127.0.0.1:{port}", place="query", name="key") as calls,
        pytest.raises(ToolError) as caught,
    ):
        calls.bind(http_tool(f"http://127.0.0.1:{port}", "POST", credentials=("k",)))({})
    error = caught.value
    assert "s3cr3t" not in f"{vars(error)} {error.__cause__!r} {error.__context__!r}"


# The command that repeats a failed call, as a shell reads it.


def pasted(command, **variables):
    """The arguments that a shell passes to the command."""
    script = 'curl() { for word; do printf "%s\\0" "$word"; done; }; ' + command
    done = subprocess.run(["sh", "-c", script], env=variables, capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


def failing(
    server,
    method="POST",
    *,
    credential=None,
    arguments=None,
    path="/a/{id}",
    properties=None,
    **binding,
):
    tool = http_tool(
        server.url + path, method, credentials=("k",), properties=properties, **binding
    )
    with invoker(server.netloc, **(credential or {})) as calls, pytest.raises(ToolError) as caught:
        calls.bind(tool)({"id": "it's $HOME `id`", **(arguments or {})})
    assert "s3cr3t" not in caught.value.curl
    return caught.value.curl


@pytest.fixture
def refusing():
    with serving(lambda _: Reply(404, {"detail": "no"})) as server:
        yield server


def test_curl_repeats_the_request(refusing):
    places = {"q": "query", "h": "header", "text": "body"}
    arguments = {"q": "a&b", "h": "don't", "text": "@file 'x' \x7f\n"}
    command = failing(refusing, arguments=arguments, locations=places, wire_names={"h": "X-H"})
    assert pasted(command, CREDENTIAL_K="the key") == [
        *("-X", "POST"),
        refusing.url + refusing.last.target,
        *("-H", "X-H: don't"),
        *("-H", "Content-Type: application/json"),
        *("--data-raw", refusing.last.body.decode()),
        *("-H", "Authorization: Bearer the key"),
    ]


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_curl_names_other_credentials(refusing, place):
    words = pasted(
        failing(refusing, "HEAD", credential={"place": place, "name": "key"}), CREDENTIAL_K="v"
    )
    assert words[0] == "--head"
    assert words[2:] == ["--url-query" if place == "query" else "-b", "key=v"]


def test_curl_hides_sensitive_arguments_but_not_pages(refusing):
    properties = {"password": {}, "pin": {"writeOnly": True}, "user": {"properties": {"w": {"format": "password"}}}, "page_token": {}}  # fmt: skip
    arguments = {
        "password": "s3cr3t",
        "pin": "s3cr3t",
        "user": {"w": "s3cr3t", "api_key": "s3cr3t"},
        "page_token": "p",
    }
    command = failing(refusing, arguments=arguments, properties={**properties, "id": {}})
    assert json.loads(pasted(command)[-3]) == {
        "password": "***",
        "pin": "***",
        "user": {"w": "***", "api_key": "***"},
        "page_token": "p",
    }
