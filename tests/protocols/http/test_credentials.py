"""Credentials against servers that others made: with `value` and `hosts` alone, the document says how they are sent."""

import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest

pytest.importorskip("uvicorn")

from benchmarks.local import free_port
from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import CredentialMissing, ToolError
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving
from toolflow_bench.services.serve import serve


def document(url, schemes, *operations, security=None):
    """An OpenAPI document of operations `(name, path, security)`."""
    paths = {
        path: {"get": {"operationId": name, "security": needs}} for name, path, needs in operations
    }
    top = {} if security is None else {"security": security}
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": url}],
        "paths": paths,
        "components": {"securitySchemes": schemes},
    } | top


def tools_of(tmp_path, told, **settings):
    file = tmp_path / "api.json"
    file.write_text(json.dumps(told))
    return load_tools(str(file), invoker=Invoker(InvokeSettings(**settings)))


@pytest.fixture(scope="module")
def httpbin():
    app = pytest.importorskip("httpbin").app
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            return

    server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "query": {"type": "apiKey", "in": "query", "name": "api_key"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "django": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": 'A required prefix "Token"',
    },
}


def test_httpbin_gets_each_kind(httpbin, tmp_path):
    told = document(
        httpbin, SCHEMES,
        ("login", "/basic-auth/ada/right", [{"basic": []}]), ("token", "/bearer", [{"bearer": []}]),
        ("jar", "/cookies", [{"cookie": []}]), ("both", "/anything", [{"header": [], "query": []}]),
        ("either", "/headers", [{"missing": []}, {"header": []}]), ("public", "/get", [{}, {"missing": []}]),
        ("prefixed", "/anything/x", [{"django": []}]),
    )  # fmt: skip
    values = {
        "basic": "ada:right",
        "bearer": "t0ken",
        "cookie": "c1",
        "query": "q1",
        "header": "h1",
        "django": "d1",
    }
    hosts = (httpbin.removeprefix("http://"),)
    credentials = {name: Credential(value=value, hosts=hosts) for name, value in values.items()}
    tools = tools_of(tmp_path, told, credentials=credentials)
    assert tools["login"].call({}) == {"authenticated": True, "user": "ada"}
    assert tools["token"].call({}) == {"authenticated": True, "token": "t0ken"}
    assert tools["jar"].call({}) == {"cookies": {"sid": "c1"}}
    assert tools["prefixed"].call({})["headers"]["Authorization"] == "Token d1"
    both = tools["both"].call({})
    assert (both["headers"]["X-Api-Key"], both["args"]) == ("h1", {"api_key": "q1"})
    assert tools["either"].call({})["headers"]["X-Api-Key"] == "h1"
    assert "Authorization" not in tools["public"].call({})["headers"]


def test_a_wrong_password_is_refused_and_not_shown(httpbin, tmp_path):
    told = document(httpbin, SCHEMES, ("login", "/basic-auth/ada/right", [{"basic": []}]))
    wrong = Credential(value="ada:wr0ng-pass", hosts=(httpbin.removeprefix("http://"),))
    with pytest.raises(ToolError) as caught:
        tools_of(tmp_path, told, credentials={"basic": wrong})["login"].call({})
    assert caught.value.status == 401
    assert caught.value.curl.endswith(' -u "$CREDENTIAL_BASIC"')
    encoded = base64.b64encode(b"ada:wr0ng-pass").decode()
    assert "wr0ng" not in repr(vars(caught.value)) + str(caught.value)
    assert encoded not in repr(vars(caught.value))


def test_a_document_that_declares_none_and_fixed_headers(httpbin, tmp_path):
    host = httpbin.removeprefix("http://")
    told = document(httpbin, {}, ("seen", "/headers", None), ("login", "/basic-auth/ada/right", []))
    del told["paths"]["/headers"]["get"]["security"]
    key = Credential(value="k1", hosts=(host,), place="header", name="X-Key", prefix="token ")
    seen = tools_of(tmp_path, told, credentials={"any": key}, headers={host: {"X-Version": "7"}})[
        "seen"
    ].call({})
    assert (seen["headers"]["X-Key"], seen["headers"]["X-Version"]) == ("token k1", "7")
    login = Credential(value="ada:right", hosts=(host,), prefix="Basic ")
    assert tools_of(tmp_path, told, credentials={"any": login})["login"].call({})["authenticated"]
    unset = tools_of(
        tmp_path, told, credentials={"any": key}, problems={"any": "the variable K is not set."}
    )
    with pytest.raises(CredentialMissing, match="the variable K is not set"):
        unset["seen"].call({})


def refusal(tool):
    with pytest.raises(ToolError) as caught:
        tool.call({})
    return caught.value.remedy


@pytest.mark.parametrize(
    ("status", "what"),
    [
        (
            401,
            "{} refused the credential 'key' (the variable KEY) (HTTP 401: no); renew it, and test it with: atc tools login ",
        ),
        (
            403,
            "{} denies this call to the credential 'key' (the variable KEY) (HTTP 403: no); give",
        ),
        (422, None),
    ],
)
def test_a_refused_credential_is_named_with_its_place(tmp_path, status, what):
    key = {"key": {"type": "http", "scheme": "bearer"}}
    with serving(lambda _: Reply(status, {"detail": "no"})) as server:
        told = document(
            server.url, key, ("get_me", "/me", [{"key": []}]), ("open_page", "/open", [])
        )
        credential = Credential(value="k1", hosts=(server.netloc,))
        places = {"key": "the variable KEY"}
        tools = tools_of(tmp_path, told, credentials={"key": credential}, places=places)
        found = refusal(tools["get_me"])
        assert (
            found is None
            if what is None
            else found.startswith(f"get_me: {what.format(server.netloc)}")
        )
        assert refusal(tools["open_page"]) is None, "nothing was sent, so nothing can be renewed"
        assert (tools["get_me"].credentials, tools["open_page"].credentials) == (("key",), ())
        headers = {server.netloc: {"Authorization": "Bearer k2", "X-Version": "7"}}
        fixed = refusal(tools_of(tmp_path, told, headers=headers)["open_page"])
        assert (fixed is None) == (what is None)
        assert fixed is None or "'Authorization' (a header of your settings)" in fixed


def test_a_renewed_secret_is_read_again(tmp_path):
    value = {"key": ""}

    def read_again():
        known = {"key": Credential(value=value["key"] or "-", hosts=(server.netloc,))}
        return known, {} if value["key"] else {"key": "the variable KEY is not set; set it."}

    def answer(request):
        fits = request.headers.get("authorization") == "Bearer new"
        return Reply(body=1) if fits else Reply(401, {"detail": "expired"})

    key = {"key": {"type": "http", "scheme": "bearer"}}
    with serving(answer) as server:
        told = document(server.url, key, ("get_me", "/me", [{"key": []}]))
        credentials, problems = read_again()
        settings = {"credentials": credentials, "problems": problems, "read_again": read_again}
        tool = tools_of(tmp_path, told, **settings)["get_me"]
        assert refusal(tool) == "get_me: the variable KEY is not set; set it."
        value["key"] = "old"
        assert "refused the credential 'key' (HTTP 401: expired)" in refusal(tool)
        value["key"] = "new"
        assert tool.call({}) == 1


def test_a_refused_token_is_fetched_anew(tmp_path):
    issued, valid = [], {"Bearer t1"}

    def answer(request):
        if request.path == "/token":
            issued.append(f"t{len(issued)}")
            return Reply(body={"access_token": issued[-1], "expires_in": 3600})
        fits = request.headers.get("authorization") in valid
        return Reply(body=1) if fits else Reply(401, {"detail": "revoked"})

    key = {"key": {"type": "oauth2", "flows": {}}}
    with serving(answer) as server:
        told = document(server.url, key, ("get_me", "/me", [{"key": []}]))
        client = {"client_id": "me", "client_secret": "s", "token_url": f"{server.url}/token"}
        credential = Credential(hosts=(server.netloc,), **client)
        tool = tools_of(tmp_path, told, credentials={"key": credential})["get_me"]
        assert (tool.call({}), issued) == (1, ["t0", "t1"])
        valid.clear()
        assert "refused the credential 'key' (its token is fetched anew" in refusal(tool)


@contextmanager
def started(*command, **environment):
    """The address that a server says it listens at."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        said = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in process.stdout)
        yield next(found[0] for found in said if found)
    finally:
        process.terminate()
        process.communicate()


def with_and_without(source, name, arguments, key, url):
    """What a tool gives with the credential, and how it fails without it."""
    answers = []
    for credentials in ({"key": Credential(hosts=(url.removeprefix("http://"),), **key)}, {}):
        tools = load_tools(
            f"{source}@{url}", invoker=Invoker(InvokeSettings(credentials=credentials))
        )
        try:
            answers.append(tools[name].call(arguments))
        except ToolError as error:
            answers.append(error.status or type(error))
    return answers


def test_jupyter_server_whose_document_declares_nothing(tmp_path):
    jupyter = pytest.importorskip("jupyter_server")
    (tmp_path / "note.txt").write_text("hello")
    options = [
        "--IdentityProvider.token=t0ken",
        "--no-browser",
        "--allow-root",
        "--port=0",
        "--ServerApp.ip=127.0.0.1",
    ]
    command = [sys.executable, "-m", "jupyter_server", *options, f"--ServerApp.root_dir={tmp_path}"]
    key = {"value": "t0ken", "place": "header", "name": "Authorization", "prefix": "token "}
    with started(*command, HOME=str(tmp_path), JUPYTER_RUNTIME_DIR=str(tmp_path / "run")) as url:
        source = Path(jupyter.__file__).parent / "services/api/api.yaml"
        read, failed = with_and_without(
            source, "get_api_contents_by_path", {"path": "note.txt"}, key, url
        )
    assert (read["content"], failed) == ("hello", 403)


PRISM = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "atc-prism/node_modules/.bin/prism"
)


@pytest.mark.skipif(
    not PRISM.exists(), reason="there is no Prism; .ci/prism installs it where npm is"
)
def test_prism_accepts_credentials_as_documented(tmp_path):
    told = document(
        "http://127.0.0.1", {"key": SCHEMES["header"]}, ("get_pet", "/pet/{pet_id}", [{"key": []}])
    )
    pet = {
        "type": "object",
        "properties": {"name": {"type": "string", "examples": ["Rex"]}},
        "required": ["name"],
    }
    told["paths"]["/pet/{pet_id}"]["get"] |= {
        "parameters": [
            {"name": "pet_id", "in": "path", "required": True, "schema": {"type": "integer"}}
        ],
        "responses": {
            "200": {"description": "It.", "content": {"application/json": {"schema": pet}}}
        },
    }
    file = tmp_path / "pets.json"
    file.write_text(json.dumps(told))
    with started(str(PRISM), "mock", "-h", "127.0.0.1", "-p", str(free_port()), str(file)) as url:
        read, failed = with_and_without(file, "get_pet", {"pet_id": 3}, {"value": "h1"}, url)
    assert (read, failed) == ({"name": "Rex"}, CredentialMissing)


@pytest.fixture(scope="module")
def shop():
    """A FastAPI app: orders need a token, which a client gets by its secret, or a person by signing in (PKCE)."""
    fastapi = pytest.importorskip("fastapi")
    security = pytest.importorskip("fastapi.security")
    from fastapi.openapi.models import OAuthFlowClientCredentials, OAuthFlows
    from starlette.responses import JSONResponse, RedirectResponse

    app = fastapi.FastAPI()
    client = security.OAuth2(
        flows=OAuthFlows(
            clientCredentials=OAuthFlowClientCredentials(tokenUrl="token", scopes={"orders": ""})
        ),
        scheme_name="client",
    )
    person = security.OAuth2AuthorizationCodeBearer(
        authorizationUrl="authorize", tokenUrl="token", scheme_name="person"
    )
    codes, asked = {}, []

    @app.get("/orders/{order_id}")
    def get_order(order_id: int, token: str = fastapi.Depends(client)):
        return {"id": order_id, "token": token}

    @app.get("/me")
    def me(token: str = fastapi.Depends(person)):
        return {"token": token}

    @app.get("/authorize", include_in_schema=False)
    def authorize(request: fastapi.Request):
        asked = request.query_params
        codes["c0de"] = asked["code_challenge"]
        return RedirectResponse(f"{asked['redirect_uri']}?code=c0de&state={asked['state']}")

    @app.post("/token", include_in_schema=False)
    async def token(request: fastapi.Request):
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        asked.append(form)
        if (
            request.headers.get("authorization")
            == f"Basic {base64.b64encode(b'me:in+a+header').decode()}"
        ):
            return {"access_token": "machine", "expires_in": "3600"}
        if form["grant_type"] == "client_credentials" and form.get("client_secret") == "s3cret":
            return {"access_token": f"machine-{form['scope']}", "expires_in": 3600}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if form["grant_type"] == "authorization_code" and codes.get(form["code"]) == challenge:
            return {"access_token": "person-1", "expires_in": 1, "refresh_token": "again"}
        if form["grant_type"] == "refresh_token" and form["refresh_token"] == "again":
            return {"access_token": "person-2", "expires_in": 3600}
        return JSONResponse({"error": "invalid_client"}, 401)

    with serve(app) as served:
        yield served.url, asked


def test_a_client_gets_its_token_by_its_secret(shop, tmp_path):
    url, asked = shop
    host = url.removeprefix("http://")
    credentials = {"client": Credential(hosts=(host,), client_id="me", client_secret="s3cret")}
    with Invoker(InvokeSettings(credentials=credentials)) as invoker:
        tools = load_tools(f"{url}/openapi.json", invoker=invoker)
        assert list(tools) == ["get_order", "me"], "FastAPI's own operation ids without their paths"
        before = len(asked)
        assert tools["get_order"].call({"order_id": 5}) == {"id": 5, "token": "Bearer ***"}
        assert tools["get_order"].call({"order_id": 6})["id"] == 6
        assert len(asked) == before + 1, "the token is kept"
    by_header = Credential(hosts=(host,), client_id="me", client_secret="in a header")
    with Invoker(
        InvokeSettings(credentials={"client": by_header}, tokens=tmp_path / "tokens.json")
    ) as invoker:
        assert (
            load_tools(f"{url}/openapi.json", invoker=invoker)["get_order"].call({"order_id": 5})[
                "id"
            ]
            == 5
        )
    assert "expires_at" in (tmp_path / "tokens.json").read_text()
    wrong = Credential(hosts=(host,), client_id="me", client_secret="guess")
    with Invoker(InvokeSettings(credentials={"client": wrong})) as invoker:
        tools = load_tools(f"{url}/openapi.json", invoker=invoker)
        with pytest.raises(
            CredentialMissing,
            match=r"no token for the credential 'client': .* answered 401: invalid",
        ):
            tools["get_order"].call({"order_id": 5})


def test_a_person_signs_in_once_in_the_browser(shop, tmp_path):
    url, _ = shop
    pages, idle = [], []

    def browser(page):
        pages.append(page)
        back = urlsplit(parse_qs(urlsplit(page).query)["redirect_uri"][0])
        idle.append(
            socket.create_connection((back.hostname, back.port))
        )  # as browsers open some ahead
        threading.Thread(target=lambda: urlopen(page).read(), daemon=True).start()

    host = url.removeprefix("http://")
    credentials = {"person": Credential(hosts=(host,), client_id="me")}
    kept = InvokeSettings(
        credentials=credentials, open_browser=browser, tokens=tmp_path / "tokens.json"
    )
    for _ in range(2):
        with Invoker(kept) as invoker:
            assert load_tools(f"{url}/openapi.json", invoker=invoker)["me"].call({}) == {
                "token": "***"
            }
    idle[0].close()
    assert len(pages) == 1, "the second time the token is refreshed"
    assert parse_qs(urlsplit(pages[0]).query)["code_challenge_method"] == ["S256"]
    assert (tmp_path / "tokens.json").stat().st_mode & 0o077 == 0
    with Invoker(InvokeSettings(credentials=credentials)) as invoker:
        tools = load_tools(f"{url}/openapi.json", invoker=invoker)
        with pytest.raises(
            CredentialMissing, match="needs a sign-in in a browser; run this command once on a"
        ):
            tools["me"].call({})


def test_a_document_cannot_redirect_the_clients_secret(tmp_path):
    with serving(lambda _: Reply(body={"access_token": "x"})) as thief, serving() as service:
        flows = {"clientCredentials": {"tokenUrl": f"{thief.url}/token", "scopes": {}}}
        told = document(
            service.url, {"o": {"type": "oauth2", "flows": flows}}, ("get", "/x", [{"o": []}])
        )
        credential = Credential(hosts=(service.netloc,), client_id="me", client_secret="s3cret")
        with pytest.raises(
            CredentialMissing,
            match=f"the sign-in would send the credential 'o' to '{thief.netloc}'",
        ):
            tools_of(tmp_path, told, credentials={"o": credential})["get"].call({})
        assert (thief.seen, service.seen) == ([], [])
