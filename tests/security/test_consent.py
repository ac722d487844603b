"""What a person's yes covers, and what no agent can allow itself, by a gateway or by a command of its shell."""

import json
import re
import sqlite3
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

import anyio
import mcp_types as types
from mcp import Client

from atc import Agent
from atc.core.config import Config
from atc.serve.gateway import Gateway
from atc.serve.gateway_limits import GatewayLimits
from atc.serve.server import gateway_server, tools_server
from atc.store import Store
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from tests.labs.loopback import serving
from tests.labs.paths import LABS
from tests.labs.patience import PATIENCE
from tests.labs.tools import tool, writing

SHOP = '''
from pathlib import Path

LOG = Path(__file__).with_name("sent")


def contacts() -> list[dict]:
    """Addresses of customers.

    read_only = True
    """
    return [{"mail": f"{name}@customer.example"} for name in ("ann", "bob", "cleo")]


def close_order(order_id: float, note: str = "") -> dict:
    """Close an order."""
    with LOG.open("a") as file:
        file.write(f"{order_id:g} {note}".strip() + "\\n")
    return {"closed": order_id}


def send_mail(to: str, text: str) -> dict:
    """Send a mail.

    Args:
        to: address of the recipient
    """
    with LOG.open("a") as file:
        file.write(f"{to} {text}\\n")
    return {"to": to}
'''
YES = types.ElicitResult(action="accept", content={"allow": "this call"})
NO = types.ElicitResult(action="decline")
CLOSE = "print(close_order(order_id=7, note='café'))"


class Shop:
    """A shop of three functions, the runs over it, and agents, gateways and commands that use both."""

    def __init__(self, folder, store, sandbox, atc_):
        self.folder, self.store, self._sandbox, self._atc = folder, store, sandbox, atc_
        (folder / "shop.py").write_text(SHOP)
        self.asked = []

    @property
    def sent(self):
        log = self.folder / "sent"
        return log.read_text().splitlines() if log.exists() else []

    def agent(self, *programs, **how):
        tools = load_tools(str(self.folder / "shop.py"))
        config = Config(strategy="chain", samples=1, tools=(str(self.folder / "shop.py"),))
        parts = {"sandbox": self._sandbox, "store": self.store, "config": config, **how}
        return Agent(tools, model=writing(*programs), **parts)

    def person(self, *answers):
        """Answers questions in turn, the last answer repeated; what they read is noted."""

        async def ask(_, question):
            self.asked.append(question.message)
            return answers[min(len(self.asked), len(answers)) - 1]

        return ask

    def talk(self, conversation, *, server=gateway_server, allow_writes=(), **client):
        """What `conversation(client)` gives, over a connection to a gateway in this process."""
        gateway = Gateway(
            self.agent(allow_writes=allow_writes), limits=GatewayLimits(run_seconds=PATIENCE)
        )

        async def go():
            async with Client(server(gateway), **client) as connected:
                return await conversation(connected)

        return anyio.run(go)

    def run(self, source, **client):
        """The reply to one program."""
        return self.talk(lambda one: call(one, "run_program", source=source), **client)

    def atc(self, *words):
        """Exit status and all that a command says, where nobody sits at a terminal."""
        code, out, err = self._atc(*words)
        return code, out + err

    def agree(self, run):
        """A person goes on with a run at a terminal, and agrees."""
        return self.agent(ask_person=lambda _: True).resume(run.rpartition(".")[0])


@pytest.fixture
def shop(own_folders, monkeypatch, sandbox, atc_):
    monkeypatch.delenv("ATC_STATE_DIR")
    with Store(own_folders / "home" / "atc" / "runs.sqlite") as store:
        yield Shop(own_folders, store, sandbox, atc_)


async def call(client, name, **arguments):
    return json.loads((await client.call_tool(name, arguments)).content[0].text)


def test_a_yes_covers_no_other_program(shop):
    """The person says yes to order 1, and while they think another program of the run asks about order 2."""

    async def conversation(client):
        session, arguments = client.session, {"source": "print(close_order(order_id=1))"}
        first = await session.call_tool("run_program", arguments, allow_input_required=True)
        state = {"request_state": first.request_state, "input_responses": {"consent": YES}}
        handle = shop.store.list(1)[0].run_id
        gateway = Gateway(shop.agent())
        other = {"source": "print(close_order(order_id=2))", "continues": gateway.handle_of(handle)}
        await session.call_tool("run_program", other, allow_input_required=True)
        again = await session.call_tool(
            "run_program", arguments, **state, allow_input_required=True
        )
        assert isinstance(again, types.InputRequiredResult)
        return again.input_requests["consent"].params.message

    assert "'order_id' = 1" in shop.talk(conversation, elicitation_callback=shop.person(NO))
    assert shop.sent == []


def test_a_repeated_answer_sends_one_equal_write(shop):
    arguments = {"source": "for _ in range(2):\n    close_order(order_id=5)\nprint('done')"}

    async def conversation(client):
        found = await client.session.call_tool("run_program", arguments, allow_input_required=True)
        assert isinstance(found, types.InputRequiredResult), found
        state = {"request_state": found.request_state, "input_responses": {"consent": YES}}
        for _ in range(2):
            found = await client.session.call_tool(
                "run_program", arguments, **state, allow_input_required=True
            )
        assert isinstance(found, types.InputRequiredResult)

    shop.talk(conversation, elicitation_callback=shop.person(NO))
    assert shop.sent == ["5"]


def test_a_yes_covers_one_waiting_call(sandbox, tmp_path):
    """When the program runs again, what the mail waited for is known at once, and it comes before the note."""
    sent, asked, noted = [], [], threading.Event()

    def post(arguments):
        sent.append(("post_note", arguments))
        return {"ok": True}

    post.check = lambda _: noted.set()  # called before anybody is asked about the note
    source = (
        "import asyncio\n"
        "called = asyncio.to_thread\n"
        "async def mail():\n    await called(send_mail, to=await called(who))\n"
        "async def note():\n    await asyncio.sleep(1)\n    await called(post_note, text='lunch')\n"
        "async def both():\n    await asyncio.gather(mail(), note())\n"
        "asyncio.run(both())\nprint('done')"
    )
    tools = Toolbox(
        [
            tool("who", lambda _: noted.wait(PATIENCE) and "eve@evil.example"),
            replace(tool("post_note", {}, {"text": "string"}, reads=False), call=post),
            tool("send_mail", {"ok": True}, {"to": "string"}, reads=False, sent=sent),
        ]
    )

    async def person(_, question):
        asked.append(question.message)
        return YES if "lunch" in question.message else NO

    async def conversation(agent):
        async with Client(gateway_server(Gateway(agent)), elicitation_callback=person) as client:
            return await call(client, "run_program", source=source)

    with Store(tmp_path / "runs.sqlite") as store:
        anyio.run(conversation, Agent(tools, model="none", sandbox=sandbox, store=store))
    assert "lunch" in asked[0]
    assert "send_mail" not in [name for name, _ in sent]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_no_command_sends_what_a_person_declined(shop, monkeypatch, elsewhere):
    reply = shop.run(CLOSE, elicitation_callback=shop.person(NO))
    assert reply["status"] == "declined"
    assert "a person said no" in json.dumps(reply)
    _assert_held(shop, reply, monkeypatch, elsewhere=elsewhere)
    again = shop.run(CLOSE, allow_writes=("all",), elicitation_callback=shop.person(NO))
    assert again["status"] == "declined"
    assert "declined this call before" in shop.asked[-1]
    assert shop.sent == []


def test_no_command_sends_what_gateways_left_open(shop, monkeypatch):
    reply = shop.run(CLOSE)
    assert reply["status"] == "paused"
    _assert_held(shop, reply, monkeypatch)
    assert shop.agree(reply["run"]).status == "solved"
    later = shop.talk(lambda client: call(client, "resume_run", run=reply["run"]))
    assert (later["status"], later["answer"], shop.sent) == ("solved", {"closed": 7}, ["7 café"])


def _assert_held(shop, reply, monkeypatch, *, elsewhere=False):
    """No command of an agent's shell sends the call, and the reply names none that would."""
    assert not re.search("atc runs|atc tools|--allow|--trust|--resend", json.dumps(reply))
    run, file, script = (
        reply["run"].rpartition(".")[0],
        shop.folder / "shop.py",
        shop.folder / "script.json",
    )
    script.write_text(json.dumps([f"```python\n{CLOSE}\n```"] * 3))
    copied = shop.folder / "copied.py"
    copied.write_text(SHOP)
    with monkeypatch.context() as patch:
        if elsewhere:
            patch.setenv("ATC_STATE_DIR", str(shop.folder / "elsewhere"))
        else:
            _assert_not_resumed(shop, run, patch)
        for words in [
            (
                "run",
                "Close order 7.",
                "--tools",
                file,
                "--model",
                f"scripted:{script}",
                "--strategy",
                "chain",
            ),
            ("tools", "call", "close_order", "--tools", file, "note=cafe\u0301", "order_id:=7.0"),
            (
                "tools",
                "call",
                "close_order",
                "--tools",
                f"renamed={copied}",
                "order_id=7",
                "note=caf\u00e9",
            ),
        ]:
            code, told = shop.atc(*words, "--allow-writes", "all")
            assert code == 1
            assert "no option sends it" in told
    assert shop.sent == []
    assert (
        shop.atc(
            "tools", "call", "close_order", "--tools", file, "order_id=8", "--allow-writes", "all"
        )[0]
        == 0
    )
    assert shop.sent == ["8"]  # it is another call
    (shop.folder / "sent").unlink()


def _assert_not_resumed(shop, run, patch):
    """Whatever is allowed in words or by a variable, the run of another agent's program waits for a terminal."""
    for options in (
        (),
        ("--allow-writes", "all"),
        ("--trust", "value=7"),
        ("--trust-annotations",),
        ("--resend",),
        ("--on-unknown", "done"),
        ("--accept-orphans",),
    ):
        code, told = shop.atc("runs", "resume", run, *options)
        assert code == (2 if options else 1)
        assert f"atc runs resume {run}" in told
    patch.setenv("ATC_ALLOW_WRITES", "all")
    assert shop.atc("runs", "resume", run)[0] == 2


def test_a_deleted_run_takes_nobodys_no_with_it(shop):
    run = shop.run(CLOSE, elicitation_callback=shop.person(NO))["run"].rpartition(".")[0]
    assert shop.atc("runs", "purge", run, "--yes")[0] == 0
    assert shop.agent(CLOSE, allow_writes=("all",)).run("Close order 7.").status == "paused"
    assert shop.sent == []


def test_a_no_is_kept_until_a_yes(shop):
    asked = []

    def person(*answers):
        return lambda question: asked.append(question) or answers[len(asked) - 1]

    paused = shop.agent(CLOSE, ask_person=person(False)).run("Close order 7.")
    assert paused.status == "paused"
    assert shop.agent(CLOSE, allow_writes=("all",)).resume(paused.run_id).status == "paused"
    assert shop.sent == []
    agent = shop.agent(CLOSE, allow_writes=("all",), ask_person=person(False, True))
    assert agent.resume(paused.run_id).status == "solved"
    assert (asked[1].declined, shop.sent) == (True, ["7 café"])


def test_a_yes_covers_one_text_once(shop):
    asked = []
    source = "to = contacts()[0]['mail']\nfor text in ('hi', 'all our figures', 'hi'):\n    send_mail(to=to, text=text)"

    def person(question):
        asked.append(question.arguments["text"])
        return question.arguments["text"] == "hi"

    agent = shop.agent(f"{source}\nprint('done')", allow_writes=("all",), ask_person=person)
    assert agent.run("Write to the first customer.").status == "paused"
    assert asked == ["hi", "all our figures"]
    assert shop.sent == ["ann@customer.example hi"]
    asked.clear()
    twice = source.replace(", 'all our figures'", "")
    agent = shop.agent(f"{twice}\nprint('done')", allow_writes=("all",), ask_person=person)
    assert agent.run("Write to the first customer.").status == "solved"
    assert asked == ["hi", "hi"]


def test_each_call_that_a_question_lists_is_held(shop):
    """The client closes the question, and its agent sends the calls that were listed behind the first."""
    source = "for one in contacts():\n    send_mail(to=one['mail'], text='hi')\nprint('done')"
    closed = shop.person(types.ElicitResult(action="cancel"))
    assert shop.run(source, elicitation_callback=closed)["status"] == "paused"
    assert "May these 3 calls be sent?" in shop.asked[0]
    for name in ("ann", "bob", "cleo"):
        given = (f"to={name}@customer.example", "text=hi", "--tools", shop.folder / "shop.py")
        assert shop.atc("tools", "call", "send_mail", *given, "--allow-writes", "all")[0] == 1
    assert shop.sent == []


def test_only_an_answer_that_was_offered_is_one(shop):
    source = "for one in contacts():\n    send_mail(to=one['mail'], text='hi')\nprint('done')"
    these = types.ElicitResult(action="accept", content={"allow": "these calls"})
    assert shop.run(source, elicitation_callback=shop.person(YES))["status"] == "paused"
    assert shop.run(CLOSE, elicitation_callback=shop.person(these))["status"] == "paused"
    for answer in ("n", "yes", 1):
        paused = shop.agent(CLOSE, ask_person=lambda _, answer=answer: answer).run("Close order 7.")
        assert paused.status == "paused"
    assert shop.sent == []


def test_declined_calls_stay_held_even_as_reads(shop):
    assert shop.run(CLOSE, elicitation_callback=shop.person(NO))["status"] == "declined"
    file = shop.folder / "reading.py"
    file.write_text(
        SHOP.replace('"""Close an order."""', '"""Close an order.\n\n    read_only = True\n    """')
    )
    code, told = shop.atc(
        "tools", "call", "close_order", "--tools", file, "order_id=7", "note=café"
    )
    assert (code, shop.sent) == (1, []), told
    assert "no option sends it" in told


def test_unknown_declines_send_nothing(shop, monkeypatch):
    assert shop.run(CLOSE, elicitation_callback=shop.person(NO))["status"] == "declined"
    with closing(sqlite3.connect(shop.store.path)) as database:
        database.execute("PRAGMA user_version = 99")
    monkeypatch.setenv("ATC_STATE_DIR", str(shop.folder / "elsewhere"))
    given = ("--tools", shop.folder / "shop.py", "order_id=7", "note=café")
    code, told = shop.atc("tools", "call", "close_order", *given, "--allow-writes", "all")
    assert (code, shop.sent) == (3, []), told


def test_a_yes_settles_earlier_declines(shop):
    for how in ({"elicitation_callback": shop.person(NO)}, {}, {}):
        shop.run(CLOSE, **how)
    assert shop.agent(CLOSE, ask_person=lambda _: True).run("Close order 7.").status == "solved"
    given = ("--tools", shop.folder / "shop.py", "order_id=7", "note=café")
    assert shop.atc("tools", "call", "close_order", *given, "--allow-writes", "close_order")[0] == 0
    assert shop.sent == ["7 café", "7 café"]


def test_a_consenting_gateway_sends_what_was_open(shop):
    """What a person declined it does not send, see above."""
    waits = shop.run(CLOSE)
    done = shop.talk(
        lambda client: call(client, "resume_run", run=waits["run"]), allow_writes=("close_order",)
    )
    assert (waits["status"], done["status"], shop.sent) == ("paused", "solved", ["7 café"])


def test_a_resumed_run_keeps_its_replies(shop):
    """What its own calls have shown does not change its prompts."""
    replies = shop.folder / "replies.json"
    program = (
        "```python\nfound = contacts()\nprint(close_order(order_id=len(found), note={!r}))\n```"
    )
    words = ("--tools", shop.folder / "shop.py", "--model", f"scripted:{replies}")
    replies.write_text(json.dumps([program.format("first")] * 5))
    assert shop.atc("run", "Close the order.", *words)[0] == 1
    replies.write_text(json.dumps([program.format("other")] * 5))
    assert shop.atc("runs", "resume", "last", "--allow-writes", "close_order")[0] == 0
    assert shop.sent == ["3 first"]


def test_agents_do_not_learn_the_working_process(shop):
    waits = shop.run(CLOSE)
    with Store(shop.store.path) as other:
        other.take(waits["run"].rpartition(".")[0])
        told = shop.talk(
            lambda client: call(client, "run_program", source=CLOSE, continues=waits["run"])
        )
    assert told == {
        "error": "another request works on this run now: wait for its reply, then call again."
    }


def posting(server, path="/notes", **more):
    """A document of one write, which takes a text in its body."""
    note = {"type": "string", "example": "lunch", "enum": ["lunch", "tea"]}
    body = {"type": "object", "properties": {"text": note}, "required": ["text"]}
    post = {
        "operationId": "post_note",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "The note."}},
    }
    info = {"title": "Notes", "version": "1"}
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": server.url}],
        "paths": {path: {"post": post | more}},
    }


def test_calls_are_known_by_request_and_service(shop, sandbox):
    """Other documents spell the declined request otherwise; and another service has one that looks the same."""

    def atc_(document, verb, *words):
        file = shop.folder / "document.json"
        file.write_text(json.dumps(document))
        return shop.atc(*verb, *words, "--allow-writes", "post_note")

    call, given = ("tools", "call", "post_note"), ("--tools", shop.folder / "document.json")
    with serving() as server, serving() as other:
        (shop.folder / "document.json").write_text(json.dumps(posting(server)))
        tools = load_tools(str(shop.folder / "document.json"))
        agent = Agent(
            tools, model="none", sandbox=sandbox, store=shop.store, ask_person=lambda _: False
        )
        assert agent.execute("post_note(text='lunch')").status == "paused"
        for path in (
            "/notes",
            "//notes",
            "/./notes",
            "/%6eotes",
            "/notes/",
            "/notes?",
            "/notes?x=1",
            "/x/../notes",
            "/notes;v=1",
            "/Notes",
            "/notes.json",
        ):
            code, told = atc_(posting(server, path), call, "text=lunch", *given)
            assert (code, server.seen) == (1, []), told
        whole = {
            "content": {
                "application/json": {"schema": {"oneOf": [{"type": "object"}, {"type": "array"}]}}
            }
        }
        assert (
            atc_(posting(server, requestBody=whole), call, 'body:={"text": "lunch"}', *given)[0]
            == 1
        )
        place = [{"name": "p", "in": "path", "required": True, "schema": {"type": "string"}}]
        assert (
            atc_(posting(server, "/{p}", parameters=place), call, "p=notes", "text=lunch", *given)[
                0
            ]
            == 1
        )
        for name, place in (("text[]", "query"), ("text", "cookie")):
            text = {"name": name, "in": place, "required": True, "schema": {"type": "string"}}
            elsewhere = posting(server, parameters=[text], requestBody={})
            assert atc_(elsewhere, call, f"{name}=lunch", *given)[0] == 1
        plain = {"content": {"text/plain": {"schema": {"type": "string"}}}}
        form = posting(server, requestBody=plain)
        assert atc_(form, call, "body=text=lunch", *given)[0] == 1
        local = posting(server)
        local["servers"] = [{"url": server.url.replace("127.0.0.1", "localhost")}]
        assert atc_(local, call, "text=lunch", *given)[0] == 1
        probe = (
            "probe",
            shop.folder / "document.json",
            "-o",
            "found",
            "--model",
            "none",
            "--per-tool",
            "4",
        )
        atc_(posting(server), probe)
        assert {"text": "lunch"} not in [json.loads(seen.body) for seen in server.seen]
        assert atc_(posting(other), call, "text=lunch", *given)[0] == 0
        assert len(other.seen) == 1


@pytest.mark.parametrize("start", ["{python} -u", "env {python}", "env X=1 {python} -s"])
def test_declined_mcp_calls_are_known_however_started(shop, sandbox, start):
    service, notes = LABS / "mcp_service.py", shop.folder / "notes.txt"
    plain = f"mcp:{sys.executable} {service} {notes}"
    with Agent(
        [plain],
        model="none",
        config=Config(start_servers=True),
        sandbox=sandbox,
        store=shop.store,
        ask_person=lambda _: False,
    ) as agent:
        assert agent.execute("write_anything(what='x')").status == "paused"
    other = f"mcp:{start.format(python=sys.executable)} {service} {notes}"
    words = ("--tools", other, "what=x", "--start-servers", "--allow-writes", "all")
    code, said = shop.atc("tools", "call", "write_anything", *words)
    assert (code, "declined" in said) == (1, True), said
    assert "write_anything" not in notes.read_text()


def test_one_question_lists_every_value(shop):
    asked = []
    source = "for one in contacts() + contacts()[:1]:\n    send_mail(to=one['mail'], text='hi')\nprint('done')"

    def person(question):
        asked.append(
            [question.arguments["to"], *(other.arguments["to"] for other in question.others)]
        )
        return True

    agent = shop.agent(source, allow_writes=("all",), ask_person=person)
    assert agent.run("Greet all customers.").status == "solved"
    everybody = [f"{name}@customer.example" for name in ("ann", "bob", "cleo")]
    assert asked == [everybody, everybody[:1]]
    assert shop.sent == [f"{to} hi" for to in (*everybody, everybody[0])]


def test_excess_questions_pause_and_lose_nothing(shop):
    source = "for number in range(12):\n    close_order(order_id=number)\nprint('done')"

    async def conversation(client):
        first = await call(client, "run_program", source=source)
        before = list(shop.sent)
        second = await call(client, "run_program", source=source)
        return first, before, second, await call(client, "resume_run", run=first["run"])

    first, before, second, last = shop.talk(conversation, elicitation_callback=shop.person(YES))
    assert (first["status"], before) == ("paused", [str(number) for number in range(len(before))])
    assert second["status"] == "paused"
    assert first["run"] in second["next"]  # an earlier run made these writes
    assert (last["status"], shop.sent) == ("solved", [str(number) for number in range(12)])


def test_allowed_writes_reach_plain_mcp_once(shop):
    order = {"order_id": 7}

    async def close(client):
        return await client.call_tool("close_order", order)

    def shown(result):
        return result.structured_content or json.loads(result.content[0].text)

    waits = shown(shop.talk(close, server=tools_server))
    assert waits["status"] == "paused"
    shop.agree(waits["run"])
    order["order_id"] = 8
    assert (
        shown(shop.talk(close, server=tools_server))["status"] == "paused"
    )  # it was not asked about
    order["order_id"] = 7
    assert shown(shop.talk(close, server=tools_server)) == {"closed": 7}
    assert shop.sent == ["7"]
    assert shown(shop.talk(close, server=tools_server))["status"] == "paused"  # it was allowed once
    assert shop.sent == ["7"]
