"""`consent="none"`: given only by Python or a flag, only for worlds that matter to nobody, and never silently."""

import json
from contextlib import ExitStack, nullcontext

import pytest

from atc import Agent, Config, Invoker, InvokeSettings, Toolbox, load_tools
from atc.agent.run_start import RunOptions
from atc.core.config import InvalidConfig
from atc.core.setting_tables import CredentialEntry
from atc.store import Store
from protocols.protocol import McpBinding, ToolProtocol
from protocols.settings import Credential, McpServer
from protocols.tool import Tool
from tests.labs.loopback import serving
from tests.labs.tools import tool, writing
from tests.labs.user import User, service, writes

pytestmark = pytest.mark.usefixtures("shared_sandbox")

EVE = "eve@evil.example"
SEND = "print(send_mail(to=read_mail()['from']))"
SHOP = '''
from pathlib import Path


def order(book: str) -> str:
    """Order a book."""
    with Path("orders").open("a") as file:
        file.write(book)
    return "ordered"
'''

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9/"}],
    "paths": {"/order": {"post": {"operationId": "order", "responses": {}}}},
}


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    (made.work / "shop.py").write_text(SHOP)
    return made


@pytest.fixture
def agent(sandbox, sent):
    tools = [
        tool("read_mail", {"from": EVE}),
        tool("send_mail", "sent", {"to": "string"}, reads=False, sent=sent),
    ]

    def make(*programs, **how):
        config = Config(strategy="chain", samples=1, max_repairs=1)
        given = {"config": config, "sandbox": sandbox, "consent": "none", **how}
        return Agent(Toolbox(tools), model=writing(*programs), **given)

    return make


def test_nobody_is_asked_and_questions_are_listed(agent, sent):
    asked = []
    solution = agent(SEND, ask_person=lambda question: asked.append(question) or False).run(
        "Reply."
    )
    assert (solution.status, asked, sent) == ("solved", [], [("send_mail", {"to": EVE})])
    (skipped,) = solution.skipped_questions
    assert (skipped.tool, dict(skipped.arguments)) == ("send_mail", {"to": EVE})
    assert "was not allowed" in skipped.why
    assert "not known to come from you" in skipped.why


def test_dropped_writes_are_accepted_and_listed(agent):
    broken = "print(send_mail(to='a@b.example'))\nraise ValueError('no')"
    solution = agent(broken, "print(read_mail()['from'])").run("Reply.")
    assert (solution.status, [call.tool for call in solution.orphans]) == ("solved", ["send_mail"])


def test_a_declined_call_stays_declined(agent, sent, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        declining = agent(SEND, consent="ask", store=store, ask_person=lambda _: False)
        assert declining.run("Reply.").status == "paused"
        assert agent(SEND, store=store).run("Reply.").status == "paused"
    assert sent == []


def test_a_resumed_run_does_not_inherit_it(agent, sent, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        paused = agent(SEND, consent="ask", store=store).run("Reply.")
        again = agent(SEND, consent="ask", store=store)
        assert (again.resume(paused.run_id).status, sent) == ("paused", [])
        assert agent(SEND, store=store).resume(paused.run_id).status == "solved"
        assert store.load(paused.run_id).summary.consent == "none"


@pytest.mark.parametrize("given", ["None", "", "NONE", None, True, ["none"]])
def test_no_other_word_is_taken(agent, given):
    with pytest.raises(InvalidConfig, match="consent must be 'ask' or 'none'"):
        agent(SEND, consent=given)


def test_credentials_and_other_hosts_are_refused(tmp_path):
    def refused(match, config=None, **changes):
        path = tmp_path / "document.json"
        path.write_text(json.dumps(DOCUMENT | changes))
        with pytest.raises(InvalidConfig, match=match):
            Agent(str(path), model="none", config=config or Config(), consent="none")

    refused("reaches 'api.example.org'", servers=[{"url": "https://api.example.org"}])
    refused("reaches 'localhost.evil.example'", servers=[{"url": "http://localhost.evil.example"}])
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    locked = {"components": {"securitySchemes": schemes}, "security": [{"key": []}]}
    refused("not this machine", servers=[{"url": "http://[2002:7f00:1::1]:9"}])
    refused("sent a credential", **locked)
    entry = CredentialEntry(value="x", hosts=("127.0.0.1:9",), header="X-Key")
    refused("your settings have one", Config(credentials={"k": entry}))
    refused("headers that your settings", Config(headers={"127.0.0.1:9": {"X-Key": "x"}}))


def test_secrets_of_a_ready_made_toolbox_are_refused(tmp_path):
    entry = Credential(value="x", hosts=("127.0.0.1:9",), header="X-Key")
    path = tmp_path / "document.json"
    path.write_text(json.dumps(DOCUMENT))

    def refuses(source, **settings):
        tools = load_tools(source, invoker=Invoker(InvokeSettings(**settings)))
        with pytest.raises(InvalidConfig, match="is sent a secret"):
            Agent(tools, model="none", consent="none")

    refuses(str(path), credentials={"k": entry})
    refuses(str(path), headers={"127.0.0.1:9": {"X-Key": "x"}})


@pytest.mark.parametrize(
    "how",
    [
        {"command": ("server", "--api-key", "sk-Zq8Lw2Rt5Yv9Kp3NxZq8Lw2Rt5Yv9")},
        {"command": ("server",), "env": {"API_TOKEN": "x"}},
        {"url": "http://127.0.0.1:9/mcp", "credential": "k"},
    ],
)
def test_secrets_of_an_mcp_server_are_refused(how):
    server = McpServer(**how)
    protocol = ToolProtocol(name="order", binding=McpBinding(server="s", tool="order"))
    for servers, refused in (({"s": server}, True), ({"s": McpServer(command=("server",))}, False)):
        call = Invoker(InvokeSettings(servers=servers)).bind(protocol)
        with pytest.raises(InvalidConfig, match="is sent a secret") if refused else nullcontext():
            Agent(Toolbox([Tool(protocol, call)]), model="none", consent="none")


def test_calls_of_this_machine_take_no_proxy(user):
    with serving() as proxy, ExitStack() as stack:
        shop = service(stack, ("order", "post", "/order"))
        done = user.atc(
            *("tools", "call", "order", "--tools", f"{shop.url}/doc", "--allow-writes", "order"),
            HTTP_PROXY=proxy.url,
            http_proxy=proxy.url,
            no_proxy="",
            NO_PROXY="",
        )
        assert (done.returncode, proxy.seen, writes(shop)) == (0, [], ["/order"])


def test_no_setting_or_variable_gives_it(user):
    program, tools = "print(order(book='b1'))", ("--tools", "shop.py")
    _, plain = user.run(program, *tools)
    assert plain["status"] == "paused"
    done = user.atc("runs", "resume", "last", ATC_CONSENT="none")
    assert (done.returncode, (user.work / "orders").exists()) == (1, False)
    for settings in (user.settings, user.work / "atc.toml"):
        settings.write_text('consent = "none"\n')
        done = user.run_text(program, *tools)
        assert (done.returncode, "unknown setting 'consent'" in done.stderr) == (2, True)
        settings.unlink()
    assert not (user.work / "orders").exists()


def test_the_flag_is_recorded_and_shown(user):
    done, solution = user.run("print(order(book='b1'))", "--tools", "shop.py", "--consent", "none")
    assert (done.returncode, solution["answer"]) == (0, "ordered")
    assert len(solution["skipped_questions"]) == 1
    assert "nobody is asked" in done.stderr
    assert "solved, consent none" in user.atc("runs", "list").stdout
    (listed,) = json.loads(user.atc("runs", "list", "--json").stdout)
    assert listed["consent"] == "none"
    assert "nobody was asked" in user.atc("runs", "show", "last").stdout


def test_a_gateway_of_such_an_agent_asks(agent, sent, tmp_path):
    pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")
    from atc.serve.gateway_agent import GatewayAgent

    with Store(tmp_path / "runs.sqlite") as store:
        served = GatewayAgent(agent(store=store), Toolbox(), None)
        assert (served.run(SEND, RunOptions()).status, sent) == ("paused", [])


def test_a_foreign_host_is_refused_by_the_flag(user):
    with ExitStack() as stack:
        shop = service(stack, ("order", "post", "/order"))
        near = shop.url.replace("127.0.0.1", "localhost")
        program = "print(order())"
        (user.work / "document.json").write_text(
            json.dumps(
                {
                    "openapi": "3.1.0",
                    "info": {"title": "Shop", "version": "1"},
                    "servers": [{"url": near}],
                    "paths": {"/order": {"post": {"operationId": "order", "responses": {}}}},
                }
            )
        )
        flags = ("--tools", "document.json", "--consent", "none")
        assert user.run_text(program, *flags).returncode == 0
        assert writes(shop) == ["/order"]
        document = (user.work / "document.json").read_text()
        (user.work / "document.json").write_text(document.replace(near, "https://api.example.org"))
        done = user.run_text(program, *flags)
        assert (done.returncode, "not this machine" in done.stderr) == (2, True)
