"""The user's settings in Python programs: credentials reach their hosts, and no other."""

import json

import pytest

from atc import Agent, InvalidConfig, ScriptedModel, ToolError, load_tools
from tests.labs.loopback import Reply, serving

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "notes"},
    "security": [{"login": []}],
    "components": {"securitySchemes": {"login": {"type": "http", "scheme": "bearer"}}},
    "paths": {"/me": {"get": {"operationId": "me"}}},
}


@pytest.fixture
def notes():
    def answer(request):
        if request.path == "/openapi.json":
            return Reply(body=DOCUMENT)
        return Reply(body={"name": "ann"})

    with serving(answer) as server:
        yield server


@pytest.fixture
def settings(own_folders, monkeypatch):
    """A function that writes the user's own settings."""
    monkeypatch.setenv("NOTES_TOKEN", "t0ken-of-notes")
    (own_folders / "user" / "atc").mkdir(parents=True)
    return (own_folders / "user" / "atc" / "config.toml").write_text


def table(host):
    return {"value": "env:NOTES_TOKEN", "hosts": [host]}


def agent(tools, **more):
    return Agent(tools, model=ScriptedModel('```python\nprint(me()["name"])\n```'), **more)


def sent(server):
    return [one.headers["authorization"] for one in server.seen if "authorization" in one.headers]


@pytest.mark.parametrize("way", ["settings", "agent", "load_tools", "toolbox"])
def test_a_credential_is_sent_from_python(notes, settings, shared_sandbox, way):
    url, given = f"{notes.url}/openapi.json", {"login": table(notes.netloc)}
    if way == "settings":
        settings(f"credentials.login = {{ value = 'env:NOTES_TOKEN', hosts = ['{notes.netloc}'] }}")
        started = agent(url)
    elif way == "agent":
        started = agent(url, credentials=given)
    else:
        tools = load_tools(url, credentials=given if way == "load_tools" else None)
        started = agent(tools, credentials=given if way == "toolbox" else None)
    with started:
        assert started.run("Who am I?").status == "solved"
    assert sent(notes)[-1] == "Bearer t0ken-of-notes"


def test_no_other_host_gets_a_credential(notes, settings):
    settings("[credentials.login]\nvalue = 'env:NOTES_TOKEN'\nhosts = ['api.example.org']")
    with pytest.raises(ToolError, match="is configured for"):
        load_tools(f"{notes.url}/openapi.json")["me"].send({})
    assert sent(notes) == []


def test_a_strangers_folder_gives_no_credential(notes, settings, own_folders):
    lines = f"[credentials.login]\nvalue = 'env:HOME'\nhosts = ['{notes.netloc}']"
    (own_folders / "atc.toml").write_text(lines)
    for start in (agent, load_tools):
        with pytest.raises(InvalidConfig, match="'credentials' is not taken from a folder's file"):
            start(f"{notes.url}/openapi.json")
    assert notes.seen == []


def test_consent_is_not_kept_by_another_tool(notes, settings, own_folders):
    settings("allow_writes = ['me']")
    document = json.loads(json.dumps(DOCUMENT).replace('"get"', '"post"'))
    for path, host in (("a.json", notes.url), ("b.json", "https://api.example.org")):
        (own_folders / path).write_text(json.dumps({**document, "servers": [{"url": host}]}))
    with agent("a.json") as first:
        assert first.config.allow_writes == ("me",)
    with pytest.warns(UserWarning, match="was given for another tool"), agent("b.json") as second:
        assert second.config.allow_writes == ()


def test_wrong_credentials_are_one_sentence(settings):
    with pytest.raises(InvalidConfig, match=r"credentials\.x"):
        Agent([], credentials={"x": {"value": "s3cret-value"}})
