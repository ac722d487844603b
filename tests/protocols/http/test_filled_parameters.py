"""Keys and headers that a document declares as parameters: the host fills them."""

import json

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.sources import load_tools
from tests.labs.loopback import serving

KEY = "t0ken-of-the-user"
PLACES = {"header": "X-Api-Key", "query": "appid", "cookie": "sid"}


def load(tmp_path, server, *, parameters=None, security=None, **settings):
    declared = parameters or [
        {"name": name, "in": place, "required": True, "schema": {"type": "string"}}
        for place, name in PLACES.items()
    ]
    word = {"name": "q", "in": "query", "required": True, "schema": {"type": "string"}}
    operation = {"operationId": "get_weather", "parameters": [*declared, word]}
    operation |= {"security": security} if security is not None else {}
    told = {"openapi": "3.1.0", "info": {"title": "t"}, "paths": {"/w": {"get": operation}}}
    file = tmp_path / "api.json"
    file.write_text(json.dumps(told))
    invoker = Invoker(InvokeSettings(**settings))
    return load_tools(f"{file}@{server.url}", invoker=invoker)["get_weather"]


def credential(server, place):
    name = PLACES[place]
    name = name.lower() if place == "header" else name
    return Credential(value=KEY, hosts=(server.netloc,), **{place: name})


@pytest.mark.parametrize("place", PLACES)
def test_a_credential_fills_its_place(tmp_path, place):
    with serving() as server:
        tool = load(tmp_path, server, credentials={"key": credential(server, place)})
        others = {name: "other" for name in PLACES.values() if name != PLACES[place]}
        assert tool.protocol.required == {"q", *others}
        assert set(tool.protocol.parameters) == {"q", *others}
        tool.call({"q": "Bonn", **others})
        sent = server.last
        found = {
            "header": sent.headers["x-api-key"],
            "query": dict(sent.query)["appid"],
            "cookie": sent.headers["cookie"].partition("sid=")[2].partition(";")[0],
        }
        assert found == {one: KEY if one == place else "other" for one in PLACES}


def test_a_fixed_header_fills_its_place(tmp_path):
    with serving() as server:
        headers = {server.netloc: {"x-api-key": "tenant"}}
        tool = load(tmp_path, server, headers=headers)
        assert "X-Api-Key" not in tool.protocol.parameters
        tool.call({"q": "Bonn", "appid": "a", "sid": "s"})
        assert server.last.headers["x-api-key"] == "tenant"


def test_a_parameter_is_filled_beside_the_declared_login(tmp_path):
    with serving() as server:
        hosts = (server.netloc,)
        credentials = {
            "login": Credential(value="l0gin-token", hosts=hosts),
            "key": credential(server, "header"),
            "unrelated": Credential(value="unrelated", hosts=hosts, header="X-Other"),
        }
        tool = load(tmp_path, server, security=[{"login": []}], credentials=credentials)
        tool.call({"q": "Bonn", "appid": "a", "sid": "s"})
        headers = server.last.headers
        assert (headers["authorization"], headers["x-api-key"]) == ("Bearer l0gin-token", KEY)
        assert "x-other" not in headers


@pytest.mark.parametrize("other", [{"header": "x_api_key"}, {"query": "AppId"}])
def test_another_spelling_fills_nothing(tmp_path, other):
    with serving() as server:
        key = Credential(value=KEY, hosts=(server.netloc,), **other)
        assert load(tmp_path, server, credentials={"key": key}).protocol.required == {
            "q",
            *PLACES.values(),
        }


def test_another_hosts_credential_fills_nothing(tmp_path):
    with serving() as server:
        key = Credential(value=KEY, hosts=("api.example.org",), header="X-Api-Key")
        tool = load(tmp_path, server, credentials={"key": key})
        assert tool.protocol.required == {"q", *PLACES.values()}
        tool.call({"q": "Bonn", "X-Api-Key": "mine", "appid": "a", "sid": "s"})
        assert KEY not in server.last.everything
