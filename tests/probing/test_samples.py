"""The log of a probing: nothing learned is lost and no call is made twice, whenever it is killed."""

import json
import random
import signal
import stat
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.samples import (
    FOLDER,
    Log,
    LogUnreadable,
    Sample,
    Value,
    ValueOrigin,
    call_key,
    from_line,
    to_line,
)
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def sample(number: int = 1, **changes: object) -> Sample:
    value = Value(
        "BOS", ValueOrigin(kind="response", tool="list_airports", path="airports[].code", sample=7)
    )
    return Sample(
        **({"number": number, "tool": "get_airport", "arguments": {"code": value}} | changes)
    )


def path_of(folder: Path) -> Path:
    return folder / FOLDER / "samples.jsonl"


@given(response=JSON, error=st.text(), answer=st.none() | st.text())
def test_a_sample_survives_its_line(response: object, error: str, answer: str | None) -> None:
    given_ = sample(response=response, error=error, answer=answer, outcome="refused", status=404)
    assert from_line(to_line(given_)) == given_


def test_what_was_logged_is_there_again(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.intend("get_airport", {"code": "BOS"}, number=log.next_number)
        log.add(sample(response={"code": "BOS"}))
        log.note("question", {"text": "which?"})
    with Log(tmp_path) as again:
        assert again.samples == [sample(response={"code": "BOS"})]
        assert again.find("get_airport", {"code": "BOS"}) == again.samples[0]
        assert again.find("get_airport", {"code": "JFK"}) is None
        assert again.notes == {"question": {"text": "which?"}}
        assert (again.intents, again.sent_count, again.next_number) == ({}, 1, 2)


def test_two_processes_do_not_share_a_log(tmp_path: Path) -> None:
    with Log(tmp_path), pytest.raises(LogUnreadable, match="by another process"):
        Log(tmp_path)


def test_a_spoilt_line_says_where_it_stands(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.add(sample(1))
    path_of(tmp_path).write_text("nonsense\n" + path_of(tmp_path).read_text())
    with pytest.raises(LogUnreadable, match=r"line 1, cannot be read .* to probe anew"):
        Log(tmp_path)


def test_the_log_is_private_and_unversioned(tmp_path: Path) -> None:
    Log(tmp_path).close()
    assert stat.S_IMODE(path_of(tmp_path).stat().st_mode) == 0o600
    assert (tmp_path / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_vain_call_counts_and_may_repeat(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.intend("get_airport", {"code": "BOS"}, number=1)
        log.void(1)
        assert not log.was_intended("get_airport", {"code": "BOS"})
        assert (log.sent_count, log.count_sent_to("get_airport"), log.next_number) == (1, 1, 2)
        log.add(sample(2, status=401, outcome="refused"))
        log.void(2, sent=False)
    with Log(tmp_path) as again:
        assert (again.samples, again.find("get_airport", {"code": "BOS"})) == ([], None)
        assert (again.sent_count, again.count_sent_to("get_airport"), again.next_number) == (
            1,
            1,
            3,
        )


# Killed at any moment, a probing goes on where it was.


# For each line of stdin: probe a folder of descriptions in a process of its own, which kills itself at the write to the
# log of the given number: before it, in the middle of its line, or right after it. Prints each exit code.
DRIVER = """
import json, os, signal, sys
from pathlib import Path
from probing.samples import Log
from probing.probe import probe
from probing.samples import ProbeSettings
from protocols.client import Invoker, InvokeSettings
from protocols.sources import load_tools
import protocols.http.transport, requests  # before the forks

class Dying(Log):
    def _write_line(self, line):
        self.written = getattr(self, "written", 0) + 1
        if self.written == at:
            if moment != "before":
                self._file.write((line + "\\n" if moment == "after" else line[: len(line) // 2]).encode())
                self._file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        super()._write_line(line)

for line in sys.stdin:
    source, folder, at, moment = json.loads(line)
    child = os.fork()
    if not child:
        with Invoker(InvokeSettings(retries=0)) as invoker, Dying(Path(folder)) as log:
            tools = load_tools(source, invoker=invoker)
            probe(tools, log, settings=ProbeSettings(requests_per_second=None))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
TOOLS = {"list_users", "get_user", "list_members", "ping"}
USERS = [{"id": f"u{n}", "name": f"Name {n}", "team": f"t{n % 2}"} for n in range(6)]


def directory(seen):
    """A small service: users, a user, the members of a team, a ping."""
    parts = seen.path.strip("/").split("/")
    match parts:
        case ["users"]:
            return Reply(body={"users": USERS})
        case ["users", user] if found := [one for one in USERS if one["id"] == user]:
            return Reply(body=found[0])
        case ["teams", team, "members"] if found := [
            one["id"] for one in USERS if one["team"] == team
        ]:
            return Reply(body={"members": found})
        case ["ping"]:
            return Reply(body={"pong": True})
    return Reply(404, {"error": f"nothing at {seen.path}"})


def descriptions(folder, url):
    folder.mkdir()
    tools = {
        "list_users": f"GET {url}/users",
        "get_user": f"GET {url}/users/{{user_id}}",
        "list_members": f"GET {url}/teams/{{team}}/members",
        "ping": f"GET {url}/ping",
    }
    (folder / "tools.json").write_text(json.dumps(tools))
    return str(folder)


@contextmanager
def driver():
    """Probes as told, and gives the exit code."""
    command = [sys.executable, "-c", DRIVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:

        def probe(source, folder, *, at=0, moment="before"):
            process.stdin.write(json.dumps([source, str(folder), at, moment]) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield probe


def test_kills_repeat_and_lose_no_answered_call(tmp_path):
    draw = random.Random(0)
    moments = ["before", "cut", "after"] * 3
    with serving(directory) as server, driver() as probe:
        source = descriptions(tmp_path / "bare", server.url)
        known, ends = [], []
        for moment in draw.sample(moments, len(moments)):
            ends.append(probe(source, tmp_path / "out", at=draw.randint(1, 5), moment=moment))
            with Log(tmp_path / "out") as log:
                assert log.samples[: len(known)] == known
                known = list(log.samples)
        assert set(ends) <= {-signal.SIGKILL, 0}
        assert ends.count(-signal.SIGKILL) >= 4
        assert probe(source, tmp_path / "out") == 0
        sent = Counter(seen.target for seen in server.seen)
        # A kill may cut off the one call that is under way, which is then made again.
        assert sent.total() - len(sent) <= ends.count(-signal.SIGKILL)
        assert probe(source, tmp_path / "out") == 0
        assert len(server.seen) == sent.total()
    with Log(tmp_path / "out") as log:
        assert {sample.tool for sample in log.samples if sample.done} == TOOLS
        assert len(
            {call_key(sample.tool, sample.plain_arguments) for sample in log.samples}
        ) == len(log.samples)
        assert log.intents == {}
        assert sent.total() <= log.sent_count
