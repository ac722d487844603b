"""What an `Agent` and a `Config` are given: wrong values are told at once, and sources of tools are loaded."""

import json
import sys
from pathlib import Path

import pytest

from atc import Agent, Config, Toolbox
from atc.core.config import METHODS, STRATEGIES, InvalidConfig
from atc.core.task import InvalidTask
from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve import methods
from atc.store import Store, StoreUnavailable
from atc.strategies import registry
from protocols.client import Invoker, InvokeSettings
from protocols.errors import SourceUnavailable, UnknownTool
from protocols.sources import load_tools
from sandbox.base import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from tests.labs.loopback import Reply, serving
from tests.labs.paths import LABS
from tests.labs.tools import tool

PING = {"operationId": "ping", "description": "Returns the state.", "security": [{"key": []}]}
API = {
    "openapi": "3.1.0",
    "info": {"title": "States"},
    "paths": {"/ping": {"get": PING}},
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}


SERVER = LABS / "mcp_service.py"


def add(a: int, b: int) -> int:
    """Add two numbers.

    read_only = True
    """
    return a + b


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_seconds": "60"}, "max_seconds must be a number, got '60'; write max_seconds=60.0."),
        (
            {"max_seconds": -5},
            "max_seconds must be greater than 0, got -5; give another value, or leave it out",
        ),
        ({"max_calls": True}, "max_calls must be a number, got True; write max_calls=1."),
        ({"policy": "yes"}, "policy must be True or False, got 'yes'; write policy=True."),
        ({"strategy": "nope"}, "strategy: no strategy is named 'nope'; there is auto, chain,"),
        (
            {"strategy": "chian:docs=full"},
            "strategy: no strategy is named 'chian'; did you mean 'chain'?",
        ),
        (
            {"retrieval": "bm24"},
            "retrieval: no method of search is named 'bm24'; did you mean 'bm25'?",
        ),
        ({"sandbox": "dockr"}, "sandbox must be one of auto, zygote, docker"),
        ({"max_secnds": 60}, "there is no setting 'max_secnds'; did you mean 'max_seconds'?"),
        (
            {"credentials": {"key": {"value": "s3cret"}}},
            "credentials.key.hosts is missing; give another value",
        ),
        (
            {"store": "s3cret"},
            "store must be an address such as postgresql://USER@HOST/NAME; give another value",
        ),
    ],
)
def test_a_config_refuses_wrong_settings(settings, sentence):
    with pytest.raises(InvalidConfig) as caught:
        Config(**settings)
    assert str(caught.value).startswith(sentence)
    assert "s3cret" not in str(caught.value)


def test_python_configs_are_read_as_files_are():
    entry = {"value": "env:KEY", "hosts": ["api.example.org"]}
    config = Config(
        tools=["a.json"], allow_writes="close", state_dir="~/state", credentials={"key": entry}
    )
    assert (config.tools, config.allow_writes) == (("a.json",), ("close",))
    assert config.state_dir == Path("~/state").expanduser()
    assert config.credentials["key"].hosts == ("api.example.org",)


def test_settings_allow_exactly_the_names_of_tables():
    assert tuple(registry.STRATEGIES) == STRATEGIES
    assert tuple(methods.METHODS) == METHODS


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({"max_seconds": "60"}, InvalidConfig, "max_seconds must be a number, got '60'"),
        ({"max_seconds": -5}, InvalidConfig, "max_seconds must be greater than 0, got -5"),
        ({"sandbox": "dockr"}, InvalidConfig, "sandbox must be one of auto, zygote"),
        (
            {"sandbox": 5},
            InvalidConfig,
            "sandbox must be a name, such as 'docker', or a sandbox, got 5.",
        ),
        (
            {"model": len},
            InvalidConfig,
            "model must be a name, such as 'local' or 'openai:NAME', or an atc.Ask",
        ),
        (
            {"config": {"samples": 1}},
            InvalidConfig,
            "config must be a Config, such as Config(max_calls=100), got {'sa",
        ),
        (
            {"config": Config(strategy="chain:pool=3")},
            InvalidConfig,
            "the strategy 'chain' has no flag 'pool'",
        ),
        (
            {"ask_person": True},
            InvalidConfig,
            "ask_person must be a function that takes an atc.Question",
        ),
        ({"store": 5}, InvalidConfig, "store must be an atc.Store"),
        (
            {"allow_writes": True},
            InvalidConfig,
            "allow_writes must be names of tools, or 'all', got True.",
        ),
        (
            {"allow_writes": ["get_tikket"]},
            UnknownTool,
            "no tool named 'get_tikket'; did you mean get_ticket?",
        ),
    ],
)
def test_an_agent_refuses_wrong_arguments(given, kind, sentence):
    with pytest.raises(kind) as caught:
        Agent(Toolbox([tool("get_ticket", {"id": 7})]), **given)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        (5, "5 is no tool source; give text, paths, functions or lists of them."),
        (b"a.json", "b'a.json' is no tool source"),
        (API, "a mapping is no tool source; write the document into a file and give its path."),
        ([add, Toolbox()], "a toolbox is no source among others; add it instead"),
        (Path("/not/there.json"), "'/not/there.json' is no tool source: there is no such folder"),
    ],
)
def test_an_agent_refuses_what_is_no_source(tools, sentence):
    with pytest.raises(SourceUnavailable) as caught:
        Agent(tools)
    assert str(caught.value).startswith(sentence)


def test_an_impossible_time_is_refused_before_the_run(sandbox):
    agent = Agent(add, model=ScriptedModel(), sandbox=sandbox)
    with pytest.raises(InvalidConfig, match="max_seconds must be greater than 0, got 0"):
        agent.run("Add.", max_seconds=0)
    with pytest.raises(InvalidTask, match="the task must be a text, got 5"):
        agent.run(5)


def test_functions_paths_and_lists_are_loaded(sandbox, tmp_path):
    described = tmp_path / "described.json"
    described.write_text(json.dumps({"name": "loose"}))
    assert list(Agent(add).toolbox) == ["add"]
    assert list(Agent([add]).toolbox) == ["add"]
    assert list(Agent(described).toolbox) == ["loose"]
    mixed = Agent([str(described), [add]], sandbox=sandbox)
    assert sorted(mixed.toolbox) == ["add", "loose"]
    assert mixed.config.tools == (str(described),)
    assert mixed.execute("print(add(a=2, b=3))").answer == "5"


def test_an_address_is_called_with_the_configs_credentials(sandbox):
    with serving(
        lambda seen: Reply(body=API if seen.path == "/openapi.json" else {"up": True})
    ) as server:
        entry = {"value": "s3cret", "hosts": [server.netloc]}
        with Agent(
            f"{server.url}/openapi.json", sandbox=sandbox, config=Config(credentials={"key": entry})
        ) as agent:
            assert agent.execute("print(ping()['up'])").answer == "True"
        assert server.last.headers["x-key"] == "s3cret"


def is_running(process):
    """Whether a process lives; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_closing_an_agent_twice_is_harmless(sandbox, tmp_path):
    notes = tmp_path / "notes"
    server = f"mcp:{sys.executable} {SERVER} {notes}"
    config = Config(start_servers=True, allow_writes=("all",))
    with Agent(server, sandbox=sandbox, config=config, store=tmp_path / "runs.sqlite") as agent:
        assert agent.execute("print(get_anything(what='well'))").answer == "well"
        assert [run.status for run in agent.store.list()] == ["solved"]
        process = notes.read_text().split()[0]
        assert is_running(process)
    agent.close()
    assert not is_running(process)
    with pytest.raises(StoreUnavailable):
        agent.store.list()
    with Store(str(tmp_path / "runs.sqlite")) as store:
        assert len(store.list()) == 1


def test_a_failed_agent_leaves_nothing_open(tmp_path):
    notes = tmp_path / "notes"
    with pytest.raises(UnknownTool):
        Agent(
            f"mcp:{sys.executable} {SERVER} {notes}",
            config=Config(start_servers=True),
            allow_writes=["get_noting"],
        )
    assert not is_running(notes.read_text().split()[0])


def test_an_agent_leaves_open_what_it_was_given(sandbox, tmp_path):
    with (
        Invoker(InvokeSettings(confirm_start=lambda _: True)) as invoker,
        Store(tmp_path / "runs.sqlite") as store,
    ):
        tools = load_tools(f"mcp:{sys.executable} {SERVER} {tmp_path / 'notes'}", invoker=invoker)
        for count in (1, 2):
            with Agent(tools, sandbox=sandbox, store=store, allow_writes="all") as agent:
                assert agent.execute("print(get_anything(what='well'))").answer == "well"
            assert len(store.list()) == count
        assert len((tmp_path / "notes").read_text().split()) == 3, "one process, two calls"


def test_an_agent_closes_the_sandbox_it_opened():
    with Agent(add, sandbox="unconfined") as agent:
        opened = agent.sandbox
        assert agent.execute("print(add(a=2, b=3))").answer == "5"
    with pytest.raises(SandboxUnavailable):
        opened.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
