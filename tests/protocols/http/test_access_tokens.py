"""Sign-ins with a password or a device code: where the secrets go, and when a token is replaced."""

import json
from urllib.parse import parse_qsl

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import CredentialMissing
from protocols.sources import load_tools
from tests.labs.loopback import Reply, serving

FORM = "application/x-www-form-urlencoded"


class Shop:
    """A service that signs people in by password or device code, and forgets tokens when told."""

    def __init__(self, **token):
        self.token = {"token_type": "bearer", **token}
        self.valid = set()
        self.pending = 1
        self.forms = []

    def __call__(self, request):
        if request.path == "/v1/me":
            known = request.headers.get("authorization", "").removeprefix("Bearer ") in self.valid
            return Reply(body={"name": "alice"}) if known else Reply(401, {"detail": "expired"})
        assert request.headers["content-type"] == FORM
        form = dict(parse_qsl(request.body.decode()))
        self.forms.append(form)
        if request.path == "/v1/device":
            page = f"http://{request.headers['host']}/activate"
            issued = {"device_code": "d3vice-code", "user_code": "ABCD", "verification_uri": page}
            return Reply(body={**issued, "interval": 1})
        match form["grant_type"]:
            case "password" if form["password"] != "wonder land&":
                return Reply(422, {"detail": [{"msg": "wrong", "input": form["password"]}]})
            case "refresh_token" if form["refresh_token"] != "again":
                return Reply(400, {"error": "invalid_grant"})
            case "urn:ietf:params:oauth:grant-type:device_code" if self.pending:
                self.pending -= 1
                return Reply(400, {"error": "authorization_pending"})
        token = f"token-{len(self.forms)}"
        self.valid.add(token)
        return Reply(body={"access_token": token, **self.token})


def flows3(flow, **addresses):
    """An OpenAPI 3 document of one tool, whose scheme `login` has this flow."""
    scheme = {"type": "oauth2", "flows": {flow: {"scopes": {}, **addresses}}}
    paths = {"/me": {"get": {"operationId": "me", "security": [{"login": []}]}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "t"},
        "servers": [{"url": "/v1"}],
        "paths": paths,
        "components": {"securitySchemes": {"login": scheme}},
    }


def tool(tmp_path, document, server, credential, **settings):
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document))
    given = InvokeSettings(credentials={"login": credential}, **settings)
    return load_tools(f"{file}@{server.url}", invoker=Invoker(given))["me"]


def login(server, **more):
    return Credential(
        hosts=(server.netloc,), **{"username": "alice", "password": "wonder land&", **more}
    )


SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "t"},
    "basePath": "/v1",
    "host": "api.example.org",
    "paths": {"/me": {"get": {"operationId": "me", "security": [{"login": ["read"]}]}}},
}


@pytest.mark.parametrize("declared", ["token", "/v1/token", "swagger", "{url}/v1/token"])
def test_a_password_signs_in_at_the_declared_address(tmp_path, declared):
    shop = Shop()
    with serving(shop) as server:
        url = declared.format(url=server.url)
        document = flows3("password", tokenUrl=url)
        if declared == "swagger":
            scheme = {"type": "oauth2", "flow": "password", "scopes": {"read": "Read."}}
            scheme["tokenUrl"] = f"{server.url}/v1/token"
            document = {**SWAGGER, "securityDefinitions": {"login": scheme}}
        me = tool(tmp_path, document, server, login(server))
        assert (me.call({}), me.call({})) == ({"name": "alice"}, {"name": "alice"})
        asked = {"grant_type": "password", "username": "alice", "password": "wonder land&"}
        assert shop.forms == [asked | ({"scope": "read"} if declared == "swagger" else {})]
        assert {request.path for request in server.seen} == {"/v1/token", "/v1/me"}
        shop.valid.clear()  # no expires_in, so only the 401 shows it
        assert (me.call({}), len(shop.forms)) == ({"name": "alice"}, 2)


def test_an_expired_token_is_refreshed_or_replaced(tmp_path):
    shop = Shop(expires_in="1e-3", refresh_token="again", expires_at="2026-01-01T00:00:00Z")
    with serving(shop) as server:
        document = flows3("password", tokenUrl="token", refreshUrl="refresh")
        kept = {"tokens": tmp_path / "tokens.json"}
        credential = login(server, client_id="app", client_secret="s3cret")
        me = tool(tmp_path, document, server, credential, **kept)
        me.call({})
        me.call({})
        shop.token["refresh_token"] = "used"
        me.call({})
        me.call({})
        grants = [form["grant_type"] for form in shop.forms]
        assert grants == ["password", *["refresh_token"] * 3, "password"]
        assert all(form["client_secret"] == "s3cret" for form in shop.forms)
        assert {one.path for one in server.seen} == {"/v1/token", "/v1/refresh", "/v1/me"}
    assert "wonder" not in (tmp_path / "tokens.json").read_text()


def test_a_wrong_password_is_not_shown(tmp_path):
    with serving(Shop()) as server:
        document = flows3("password", tokenUrl="token")
        me = tool(tmp_path, document, server, login(server, password="looking-glass"))
        with pytest.raises(CredentialMissing) as caught:
            me.call({})
        with pytest.raises(CredentialMissing):
            me.call({})
        assert len(server.seen) == 1, "a second wrong try could lock the account"
        assert me.call.login.command.startswith("atc tools login")
        with pytest.raises(CredentialMissing):
            me.call.login.sign_in()
        assert len(server.seen) == 2, "a person may try at once"
    assert "no token for the credential 'login'" in str(caught.value)
    assert "answered 422: " in str(caught.value)
    assert "looking-glass" not in repr(vars(caught.value)) + str(caught.value)


def test_a_redirect_within_the_origin_is_followed_once(tmp_path):
    shop = Shop()

    def answer(request):
        if request.path == "/v1/token":
            return Reply(307, headers={"Location": "/v1/token/"})
        return shop(request)

    with serving(answer) as server:
        document = flows3("password", tokenUrl="token")
        assert tool(tmp_path, document, server, login(server)).call({}) == {"name": "alice"}
        assert [one.path for one in server.seen] == ["/v1/token", "/v1/token/", "/v1/me"]


@pytest.mark.parametrize("by", ["tokenUrl", "refreshUrl", "redirect", "verification_uri"])
def test_no_other_host_gets_a_password_or_code(tmp_path, by):
    pages = []
    with serving(Shop()) as thief, serving(lambda request: replies[by]) as server:
        elsewhere = f"{thief.url}/v1/token"
        issued = {"device_code": "d3vice-code", "user_code": "A", "verification_uri": elsewhere}
        replies = {
            "redirect": Reply(307, headers={"Location": elsewhere}),
            "verification_uri": Reply(body=issued),
        }
        addresses = {"tokenUrl": "token", "deviceAuthorizationUrl": "device"}
        addresses |= {by: elsewhere} if by in ("tokenUrl", "refreshUrl") else {}
        flow = "deviceAuthorization" if by == "verification_uri" else "password"
        credential = login(server)
        if by == "verification_uri":
            credential = Credential(hosts=(server.netloc,), client_id="app")
        document = flows3(flow, **addresses)
        me = tool(tmp_path, document, server, credential, show_device_code=pages.append)
        with pytest.raises(CredentialMissing, match="login"):
            me.call({})
        assert (thief.seen, pages) == ([], [])


def test_a_device_code_is_shown_and_asked_about(tmp_path):
    shop, shown, waited = Shop(), [], []
    with serving(shop) as server:
        addresses = {"tokenUrl": "token", "deviceAuthorizationUrl": "device"}
        document = flows3("deviceAuthorization", **addresses)
        credential = Credential(hosts=(server.netloc,), client_id="app")
        settings = {"show_device_code": shown.append, "sleep": waited.append}
        me = tool(tmp_path, document, server, credential, **settings)
        assert me.call({}) == {"name": "alice"}
        assert [(one.page, one.code) for one in shown] == [(f"{server.url}/activate", "ABCD")]
        assert waited == [1, 1]
        nobody = tool(tmp_path, document, server, credential)
        with pytest.raises(CredentialMissing, match="needs a sign-in by a person"):
            nobody.call({})


@pytest.mark.parametrize(
    ("interval", "expires", "longest"), [("inf", 60, 60), (1e9, 1e300, 3600), (1e-9, 60, 1)]
)
def test_a_sign_in_never_waits_without_end(tmp_path, interval, expires, longest):
    issued = {"device_code": "d", "user_code": "A", "interval": interval, "expires_in": expires}
    waited = []

    def answer(request):
        if request.path == "/v1/device":
            return Reply(body={**issued, "verification_uri": f"{server.url}/activate"})
        return Reply(400, {"error": "authorization_pending" if len(waited) < 2 else "denied"})

    with serving(answer) as server:
        document = flows3("deviceAuthorization", tokenUrl="token", deviceAuthorizationUrl="device")
        credential = Credential(hosts=(server.netloc,), client_id="app")
        settings = {"show_device_code": lambda _: None, "sleep": waited.append}
        with pytest.raises(CredentialMissing, match="no token"):
            tool(tmp_path, document, server, credential, **settings).call({})
    assert waited == [longest, longest]


def test_a_password_is_sent_itself_for_basic(tmp_path):
    document = flows3("password")
    document["components"]["securitySchemes"]["login"] = {"type": "http", "scheme": "basic"}
    with serving() as server:
        tool(tmp_path, document, server, login(server, password="pw")).call({})
        assert server.last.headers["authorization"] == "Basic YWxpY2U6cHc="
