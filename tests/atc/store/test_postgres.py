"""What only the store in PostgreSQL does: leases that end, servers that stop, addresses with passwords in them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest

from atc.agent import Agent
from atc.core import events
from atc.core.config import Config
from atc.store import RunRefused, StoreUnavailable
from atc.store.postgres import PostgresStore
from benchmarks.postgres import PASSWORD
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("shared_sandbox")

INTENT = ToolCall(index=0, tool="add", arguments={"n": 1}, line=1, outcome="unknown")


@pytest.fixture
def address(postgres) -> str:
    return postgres.database()


OTHER = """
import sys
from atc.core import events
from atc.store import RunRefused, StoreUnavailable
from atc.store.postgres import PostgresStore
from sandbox.trace import ToolCall
store = PostgresStore(sys.argv[1], lease_seconds=3)
run = store.create("t")
observe = store.observer(run)
def intent(n):
    call = ToolCall(index=n - 1, tool="add", arguments={"n": n}, line=1, outcome="unknown")
    observe(events.ToolCalled(0, call, complete=False))
intent(1)
print(run, flush=True)
def outcome():
    observe(events.ToolCalled(0, ToolCall(index=0, tool="add", arguments={"n": 1}, line=1, result="mine")))
tries = [lambda: store.confirm_owned(run), outcome, lambda: intent(2), lambda: observe(events.NoteAdded("mine")),
         lambda: store.finish(run, status="solved")]
for step in sys.stdin:
    try:
        if step.strip() == "stay":
            with store._transaction(run):
                print("inside", flush=True)
                sys.stdin.readline()
        else:
            tries[int(step)]()
        print("done", flush=True)
    except (RunRefused, StoreUnavailable) as error:
        print(type(error).__name__, error, flush=True)
"""


class Other:
    """Another process with a lease of two seconds on a run of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.run = process.stdout.readline().strip()

    def ask(self, step: str) -> str:
        print(step, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()


@pytest.fixture
def other(address):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", OTHER, address]
    with subprocess.Popen(
        command, stdin=-1, stdout=-1, text=True, env=environment, bufsize=1
    ) as process:
        yield Other(process)
        process.kill()


def taken(store: PostgresStore, run: str) -> None:
    """Take the run as soon as its lease is over."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            store.take(run)
        except RunRefused:
            assert time.monotonic() < deadline
        else:
            return


def test_a_lease_is_renewed_while_its_process_lives(other, address) -> None:
    """The clocks of the machines play no part."""
    until = time.monotonic() + 4
    with PostgresStore(address) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: 4e9)
        while time.monotonic() < until:
            with pytest.raises(
                RunRefused,
                match=rf"is being worked on by process {other.process.pid} on .*; wait for it",
            ):
                store.take(other.run)
            assert store.load(other.run).summary.status == "running"
    assert other.ask("1") == "done"


def test_intent_ages_ignore_the_machines_clocks(address) -> None:
    """A write is given time to show from its intent on: a clock that is wrong would cut that short."""
    real = time.time
    with (
        PostgresStore(address) as first,
        PostgresStore(address) as second,
        pytest.MonkeyPatch.context() as patch,
    ):
        run = first.create("t")
        patch.setattr(time, "time", lambda: real() - 3600)
        first.observer(run)(events.ToolCalled(0, INTENT, complete=False))
        patch.setattr(time, "time", real)
        assert abs(second.load(run).calls[0].intended - real()) < 60


def test_a_paused_process_loses_its_taken_run(other, address) -> None:
    with PostgresStore(address) as store:
        other.process.send_signal(signal.SIGSTOP)
        taken(store, other.run)
        store.observer(other.run)(
            events.ToolCalled(0, replace(INTENT, index=1, arguments={"n": 3}), complete=False)
        )
        before = store.load(other.run)
        other.process.send_signal(signal.SIGCONT)
        for step in range(5):
            said = other.ask(str(step))
            assert said.startswith(
                f"RunRefused run {other.run} was taken over by process {os.getpid()} on "
            ), said
            assert "this one sends and records nothing more of it" in said
        assert store.load(other.run) == before
        store.finish(other.run, status="interrupted")


def test_an_open_transaction_holds_nobody_up(other, address) -> None:
    with PostgresStore(address) as store:
        assert other.ask("stay") == "inside"
        other.process.send_signal(signal.SIGSTOP)
        taken(store, other.run)
        other.process.send_signal(signal.SIGCONT)
        assert other.ask("").startswith(
            "StoreUnavailable the store of runs, PostgreSQL database atc"
        )
        assert "was taken over" in other.ask("1")


def test_a_run_that_is_free_is_taken_once(address) -> None:
    with PostgresStore(address) as first:
        run = first.create("t")
        first.finish(run, status="interrupted")
        stores = [PostgresStore(address) for _ in range(6)]

        def take(store: PostgresStore) -> bool:
            try:
                store.take(run)
            except RunRefused:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            assert sorted(pool.map(take, stores)) == [False] * 5 + [True]
        for store in stores:
            store.close()
        assert (
            first.load(run).summary.status == "interrupted"
        )  # whoever closes the store gives its runs back


def test_many_processes_may_make_the_tables_at_once(address) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: PostgresStore(address), range(6)))
    assert len({store.key() for store in stores}) == 1
    for store in stores:
        store.close()


def test_tables_of_a_newer_version_are_left_alone(address) -> None:
    PostgresStore(address).close()
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE atc.format SET number = 99")
    with pytest.raises(
        StoreUnavailable,
        match=r"another version of atc made its tables \(format 99, this one knows 4\)",
    ):
        PostgresStore(address)


# --- a server that stops


@pytest.mark.parametrize("moment", ["outcome", "intent"])
def test_nothing_is_sent_while_it_cannot_be_recorded(postgres, address, sandbox, moment) -> None:
    """The server stops before the outcome of the first call is recorded, or before the intent of the second is."""
    sent = []

    def stop() -> None:
        postgres.stop()
        store._pool.timeout = 0.2  # not before: the first connection may take longer

    def add(_, **_options) -> None:
        sent.append("add")
        if moment == "outcome":
            stop()

    def watch(event: events.Event) -> None:
        if moment == "intent" and isinstance(event, events.ToolCalled) and event.complete:
            stop()

    def tool(name: str, call) -> Tool:
        binding = HttpBinding(method="POST", url="https://shop.example/", idempotency_header="Key")
        return Tool(ToolProtocol(name=name, binding=binding), call)

    tools = Toolbox([tool("add", add), tool("send", lambda _, **_options: sent.append("send"))])
    program = "add()\nsend()\nprint('sent')"
    config = Config(allow_writes=("all",))
    with PostgresStore(address) as store:
        agent = Agent(tools, sandbox=sandbox, config=config, store=store)
        try:
            with pytest.raises(StoreUnavailable, match=r"PostgreSQL database atc.*connection"):
                agent.execute(program, observer=watch)
        finally:
            postgres.start()
        assert sent == ["add"]
        store._pool.timeout = 10.0
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("UPDATE atc.leases SET expires = '-infinity'")  # some seconds later
        run = store.list()[0]
        assert (run.status, run.call_count) == ("interrupted", 1)
        moment = ""
        solution = agent.execute(program, continues=run.run_id)
    assert (solution.answer, sent[-1], sent.count("send")) == ("sent", "send", 1)


# --- addresses


def over_tcp(postgres, password: str) -> str:
    return f"postgresql://atc:{password}@127.0.0.1:{postgres.port}/postgres"


def test_a_password_is_used_and_never_shown(postgres, own_folders, monkeypatch, atc_) -> None:
    assert "/" in PASSWORD
    assert "@" in PASSWORD
    right, wrong = over_tcp(postgres, quote(PASSWORD, safe="")), over_tcp(postgres, "wr0ng-guess")
    with PostgresStore(right) as store:
        assert store.name == "PostgreSQL database postgres at 127.0.0.1"
    addresses = (
        right,
        wrong,
        over_tcp(postgres, PASSWORD),
        over_tcp(postgres, "wr0ng@guess"),
        over_tcp(postgres, "wr0ng?guess"),
    )
    addresses += (
        f"postgresql://atc@127.0.0.1:{postgres.port}/postgres?password=wr0ng-guess&connect_timeout=x",
    )
    for address in addresses:
        monkeypatch.setenv("ATC_STORE", address)
        for words in (("runs", "list"), ("config", "show"), ("config", "show", "--json")):
            code, *said = atc_(*words)
            assert not any(
                secret in "".join(said) for secret in ("horse", "battery", "wr0ng", "guess")
            ), (
                address,
                said,
            )
            assert (code == 0) == (address == right or words[0] == "config"), (address, said)
    monkeypatch.setenv("ATC_STORE", wrong)
    assert 'password authentication failed for user "atc"' in atc_("runs", "list")[2]
    monkeypatch.setenv("ATC_STORE", "mysql://u:wr0ng@h/d")
    said = atc_("runs", "list")[2]
    assert "ATC_STORE must be an address such as postgresql://" in said
    assert "wr0ng" not in said


def test_stored_runs_contain_no_password(
    postgres, own_folders, monkeypatch, atc_, tmp_path
) -> None:
    monkeypatch.setenv("ATC_STORE", right := over_tcp(postgres, quote(PASSWORD, safe="")))
    (tmp_path / "adding.py").write_text(
        "def add(n: int) -> int:\n    '''One more.'''\n    return n + 1\n"
    )
    script = tmp_path / "script.json"
    script.write_text('["```python\\nprint(2)\\n```"]', encoding="utf-8")
    code, out, err = atc_(
        "run", "How many?", "--model", f"scripted:{script}", "--tools", "adding.py"
    )
    assert (code, out) == (0, "2\n"), err
    with PostgresStore(right) as store:
        stored = store.load("last")
        assert (
            stored.summary.config["store"]
            == f"postgresql://atc:***@127.0.0.1:{postgres.port}/postgres"
        )
    assert atc_("runs", "list")[1].startswith(stored.summary.run_id)
    code, out, _ = atc_("doctor")
    assert (
        f"stored in postgresql://atc:***@127.0.0.1:{postgres.port}/postgres, the latest is {stored.summary.run_id}"
        in (" ".join(out.split()))
    )


def test_a_folder_may_not_choose_where_runs_go(own_folders, atc_) -> None:
    (own_folders / "atc.toml").write_text('store = "postgresql://u:wr0ng@example.org/x"\n')
    code, _, err = atc_("runs", "list")
    assert code == 2
    assert "'store' is not taken from a folder's file" in err
