"""The gate before calls: plain consent to writes, questions about values, what a pause says, what an answer is."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.safety.consent import Consent
from atc.safety.held_calls import HeldCalls
from atc.store import Store
from protocols.toolbox import Toolbox
from sandbox.base import Paused
from sandbox.journal import Journal
from tests.labs.tools import tool, writing

pytestmark = pytest.mark.usefixtures("shared_sandbox")

EVE = "eve@evil.example"
PROGRAM = "mail = read_mail()\nsend_mail(to=mail['sender'], text='hi')\nprint('sent')"


@pytest.fixture
def tools(sent):
    def writes(name, parameters):
        return tool(name, {"ok": True}, parameters, reads=False, optional=parameters, sent=sent)

    return Toolbox(
        [
            tool("read_mail", {"sender": EVE, "total": 900}, sent=sent),
            tool("fetch", "a page", {"url": "string"}, sent=sent),
            writes("send-mail", {"to": "string", "text": "string"}),
            writes("pay", {"amount": "number", "iban": "string"}),
        ]
    )


def guarded(tools, *, task="Do it.", ask=None, run=None, **settings):
    consent = Consent(task, tools, Config(**settings), ask, Journal(run=run), held=HeldCalls())
    return consent, consent.toolbox


def admit(box, name, **arguments):
    box[name].admit(arguments)


def why(box, name, **arguments):
    with pytest.raises(Paused) as caught:
        admit(box, name, **arguments)
    return str(caught.value)


# --- plain consent to writes


def test_reads_pass_and_writes_pause_with_the_command(tools):
    _, box = guarded(tools, run="r1")
    admit(box, "read_mail")
    assert why(box, "send_mail", text="x") == (
        "send_mail may change something and was not allowed; nothing was sent."
        " Allow it with: atc runs resume r1 --allow-writes send_mail"
    )
    _, box = guarded(tools)
    assert why(box, "send_mail").endswith(
        "nothing was sent. Allow it with --allow-writes send_mail"
    )


@pytest.mark.parametrize("allowed", ["all", "send_mail", "send-mail"])
def test_what_is_allowed_passes(tools, allowed):
    _, box = guarded(tools, allow_writes=(allowed,))
    admit(box, "send_mail", text="x")
    if allowed != "all":
        why(box, "pay")


# --- values


def test_one_question_holds_both_for_one_call(tools):
    seen = []
    _, box = guarded(
        tools, allow_writes=("pay",), ask=lambda question: seen.append(question) or True
    )
    for _ in range(2):
        admit(box, "send_mail", to=EVE)
        admit(box, "pay", iban=EVE)
    assert [[one.value for one in question.tainted] for question in seen] == [[EVE]] * 4


def test_a_message_names_both_consents(tools):
    _, box = guarded(tools)
    message = why(box, "send_mail", to=[f"a{n}@evil.example" for n in range(5)])
    assert message.startswith(
        "send_mail may change something and was not allowed; send_mail: argument 'to[0]'"
    )
    assert "2 more of its values are like that" in message
    assert "--allow-writes send_mail --trust value=a0@evil.example" in message


def test_untypable_values_are_decided_at_a_terminal(tools):
    _, box = guarded(tools, allow_writes=("all",), run="r1")
    message = why(box, "send_mail", to="eve@evil.example\x1b[2J")
    assert message.endswith(
        "To see it whole and decide, run this on a terminal: atc runs resume r1"
    )
    assert message.isprintable()


def test_what_a_person_typed_as_arguments_is_theirs(tools):
    consent, box = guarded(tools, allow_writes=("all",))
    consent.accept_arguments(box["send_mail"], {"to": EVE})
    admit(box, "send_mail", to=EVE)
    why(box, "pay", iban=EVE)


def test_each_waiting_call_has_its_question(tools):
    asked, reading = [], threading.Lock()

    def ask(question):
        assert reading.acquire(blocking=False)  # nobody else is asked meanwhile
        asked.append(question)
        reading.release()
        return True

    _, box = guarded(tools, allow_writes=("all",), ask=ask)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: admit(box, "send_mail", to=EVE), range(16)))
    assert len(asked) == 16


# --- through the agent


@pytest.fixture
def agent(tools, sandbox):
    def make(*programs, store=None, ask=None, **settings):
        config = Config(**{"strategy": "chain", "samples": 1, "allow_writes": ("all",), **settings})
        return Agent(
            tools,
            model=writing(*programs),
            sandbox=sandbox,
            config=config,
            store=store,
            ask_person=ask,
        )

    return make


def test_the_rule_named_in_a_pause_resumes_it(agent, sent, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        paused = agent(PROGRAM, store=store).run("Answer the mail.")
        failure = paused.attempts[0].trace.failure
        assert (paused.status, failure.kind, failure.call, sent) == (
            "paused",
            "paused",
            1,
            [("read_mail", {})],
        )
        assert "it equals sender in the response of read_mail" in failure.message
        assert "trust=['read_mail:sender']" in failure.message
        again = (
            agent(PROGRAM, store=store, trust=("value=x",))
            .resume(paused.run_id)
            .attempts[-1]
            .trace.failure
        )
        assert (
            "Allow it with Agent(…, trust=['value=x', 'read_mail:sender'])"
            f" and agent.resume({paused.run_id!r})"
        ) in again.message
        done = agent(PROGRAM, store=store, trust=("read_mail:sender",)).resume(paused.run_id)
    assert (done.status, done.answer) == ("solved", "sent")
    assert sent == [("read_mail", {}), ("send-mail", {"to": EVE, "text": "hi"})]


def test_repairs_literals_are_not_clean(agent, sent):
    direct = f"send_mail(to={EVE!r}, text='hi')\nprint('sent')"
    assert agent(direct).run("Answer.").status == "solved"
    sent.clear()
    assert agent("print(int(read_mail()['sender']))", direct).run("Answer.").status == "paused"
    assert sent == [("read_mail", {})]
