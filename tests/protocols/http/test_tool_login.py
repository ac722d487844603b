"""Tools whose document declares a login for their siblings only: they get it once a person agreed."""

import json

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.http.agreements import Agreements
from protocols.sources import load_tools
from protocols.urls import split_url
from tests.labs.loopback import Reply, serving

KEY = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}


def answer(request):
    fits = request.headers.get("x-key") == "k3y-of-mine"
    return Reply(body={"ok": True}) if fits else Reply(401, {"detail": "who are you?"})


def load(tmp_path, server, host=None, **settings):
    operations = {"me": [{"key": []}], "orders": [{"key": []}], "items": None, "open": []}
    paths = {
        f"/{name}": {
            "get": {"operationId": f"get_{name}"} | ({} if needs is None else {"security": needs})
        }
        for name, needs in operations.items()
    }
    told = {"openapi": "3.1.0", "info": {"title": "t"}, "paths": paths}
    file = tmp_path / "api.json"
    file.write_text(json.dumps(told | {"components": {"securitySchemes": KEY}}))
    credential = Credential(value="k3y-of-mine", hosts=(host or server.netloc,))
    given = InvokeSettings(
        credentials={"key": credential}, agreements=tmp_path / "agreed.json", **settings
    )
    return load_tools(f"{file}@{server.url}", invoker=Invoker(given))


def sent(server):
    return [(one.path, one.headers.get("x-key")) for one in server.seen]


def test_a_sibling_gets_the_login_once_agreed(tmp_path):
    with serving(answer) as server:
        tools = load(tmp_path, server)
        with pytest.raises(ToolError) as caught:
            tools["get_items"].call({})
        assert "declares none for this tool, but 'key' for most others" in caught.value.remedy
        assert caught.value.remedy.endswith(f"atc tools login {tmp_path}/api.json@{server.url}")
        assert sent(server) == [("/items", None)]
        login = tools["get_items"].call.login
        assert "Send it to" in login.sibling_question()
        login.agree()
        assert login.sibling_question() == ""
        for again in (tools, load(tmp_path, server)):
            assert again["get_items"].call({}) == {"ok": True}
        with pytest.raises(ToolError) as caught:
            tools["get_open"].call({})
        assert caught.value.remedy is None, "its document says that it needs no login"
        assert sent(server)[-1] == ("/open", None)


def test_an_agreement_holds_for_one_origin(tmp_path):
    with serving(answer) as server, serving(answer) as other:
        load(tmp_path, server)["get_items"].call.login.agree()
        with pytest.raises(ToolError):
            load(tmp_path, other)["get_items"].call({})
        assert sent(other) == [("/items", None)]
        elsewhere = load(tmp_path, server, host="api.example.org")["get_items"]
        assert elsewhere.call.login.sibling_question() == ""
        with pytest.raises(ToolError):
            elsewhere.call({})
        assert sent(server) == [("/items", None)]


def test_agreements_are_kept_by_origin_and_scheme(tmp_path):
    origin = split_url("https://api.example.org")[0]
    for path in (tmp_path / "agreed.json", None):
        known = Agreements(path)
        known.add(origin, ["a"])
        known.add(origin, ["b"])
        assert known.has(origin, ["a", "b"])
        assert not known.has(origin, ["a", "c"])
        assert not known.has(split_url("http://api.example.org")[0], ["a"])
    (tmp_path / "agreed.json").write_text("[[1")
    assert not Agreements(tmp_path / "agreed.json").has(origin, ["a"])
