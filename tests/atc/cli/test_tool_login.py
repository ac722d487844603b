"""`atc tools login`: it signs in, says how long that holds, and loses nothing if that fails."""

import json
import sys
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.labs.loopback import Reply, serving

SERVICE = Path(__file__).parents[2] / "labs" / "mcp_service.py"
FLOWS = {"password": {"scopes": {}, "tokenUrl": "token"}}
SCHEMES = {
    "login": {"type": "oauth2", "flows": FLOWS},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
}


def operation(name, scheme, **more):
    return {"get": {"operationId": name, "security": [{scheme: []}], **more}}


DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "shop"},
    "components": {"securitySchemes": SCHEMES},
    "paths": {
        "/me": operation("get_me", "login"),
        "/orders": operation("list_orders", "login"),
        "/prices": operation("list_prices", "key"),
    },
}


@pytest.fixture
def shop():
    def answer(request):
        if request.path == "/openapi.json":
            return Reply(body=DOCUMENT)
        if request.path == "/token":
            fits = dict(parse_qsl(request.body.decode())).get("password") == "wonderland"
            token = {"access_token": f"token-{len(server.seen)}", "expires_in": 1800}
            return Reply(body=token) if fits else Reply(400, {"detail": "Incorrect password"})
        return Reply() if request.headers.get("x-key") == "k3y-of-mine" else Reply(401)

    with serving(answer) as server:
        yield server


@pytest.fixture
def settings(shop, own_folders, monkeypatch):
    """The user's own settings, with credentials for the shop."""
    folder = own_folders / "user" / "atc"
    folder.mkdir(parents=True)
    login = f"username = 'alice'\npassword = 'env:PASSWORD'\nhosts = ['{shop.netloc}']"
    key = f"value = 'env:KEY'\nhosts = ['{shop.netloc}']"
    (folder / "config.toml").write_text(f"[credentials.login]\n{login}\n[credentials.key]\n{key}\n")
    monkeypatch.setenv("PASSWORD", "wonderland")
    monkeypatch.setenv("KEY", "k3y-of-mine")
    return own_folders


def test_a_login_says_how_long_it_holds(shop, settings, atc_):
    url = f"{shop.url}/openapi.json"
    code, out, _ = atc_("tools", "login", url)
    assert (code, out.splitlines()) == (
        0,
        [
            "login  ok  the token holds for 30 minutes (the variable PASSWORD)",
            "key    ok  list_prices accepts it (the variable KEY); nothing to sign in to",
        ],
    )
    assert [one.path for one in shop.seen].count("/token") == 1
    assert atc_("tools", "login", url)[0] == 0
    assert [one.path for one in shop.seen].count("/token") == 2, "it is tested anew"


def test_a_failed_login_loses_nothing(shop, settings, atc_, monkeypatch):
    url = f"{shop.url}/openapi.json"
    atc_("tools", "login", url)
    kept = (settings / "state" / "sign-ins.json").read_text()
    monkeypatch.setenv("PASSWORD", "looking-glass")
    monkeypatch.setenv("KEY", "wr0ng-key")
    code, out, err = atc_("tools", "login", url, "--json")
    assert code == 3
    assert "looking-glass" not in out + err
    failed = {one["credential"]: (one["state"], one["detail"]) for one in json.loads(out)}
    place = "'login' (the variable PASSWORD)"
    problem = (
        f"no token for the credential {place}: {shop.netloc} answered 400: Incorrect password."
    )
    assert failed["login"] == ("failed", problem)
    assert failed["key"][0] == "failed"
    assert (settings / "state" / "sign-ins.json").read_text() == kept


def test_a_refused_sign_in_names_the_test(shop, settings, atc_, monkeypatch):
    url = f"{shop.url}/openapi.json"
    monkeypatch.setenv("PASSWORD", "looking-glass")
    code, _, err = atc_("tools", "call", "get_me", "--tools", url)
    assert code == 3
    assert err.strip().endswith(f"Incorrect password. Test it with: atc tools login {url}")


def test_a_person_decides_about_siblings(shop, settings, atc_, monkeypatch):
    url = f"{shop.url}/openapi.json"
    questions = []
    monkeypatch.setitem(DOCUMENT["paths"], "/stock", {"get": {"operationId": "list_stock"}})
    monkeypatch.setattr("atc.cli.output.confirmed", lambda text: bool(questions.append(text)) or 1)
    assert atc_("tools", "login", url)[0] == 0
    assert questions == [], "nobody is at a terminal"
    monkeypatch.setattr("atc.cli.output.has_person", lambda: True)
    assert atc_("tools", "login", url)[0] == 0
    assert atc_("tools", "login", url)[0] == 0
    assert [one.partition(".")[0] for one in questions] == [f"The document of {shop.netloc[:3]}"]
    assert "declares the login 'login' for most of its tools" in questions[0]
    assert "agreed-logins.json" in {one.name for one in (settings / "state").iterdir()}


def test_an_mcp_server_must_list_its_tools(settings, atc_):
    command = json.dumps([sys.executable, str(SERVICE)])
    server = f"[mcp.notes]\ncommand = {command}\nenv = {{ TOKEN = 'env:KEY' }}\n"
    (settings / "user" / "atc" / "config.toml").write_text(server)
    code, out, _ = atc_("tools", "login", "mcp:notes")
    assert code == 0
    assert out.startswith("mcp:notes  ok  the server (")


def test_a_missing_credential_is_told(shop, settings, atc_):
    (settings / "user" / "atc" / "config.toml").write_text("")
    code, out, _ = atc_("tools", "login", f"{shop.url}/openapi.json")
    assert code == 3
    assert "needs the credential 'login' (a token, or in place of value your username" in out
