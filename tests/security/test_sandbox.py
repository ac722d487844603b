"""Programs share nothing, draw values that nobody can guess, and are ended on time, whatever the host is doing."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
import types
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from atc import Agent, Config
from atc.models.scripted import ScriptedModel
from protocols.toolbox import Toolbox
from sandbox.choose import availability, open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.testing import make_tool
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

ATC = [sys.executable, "-c", "from atc.cli.main import main; main()"]

CHANCE = (
    "import random, secrets, uuid\nprint(random.random(), uuid.uuid4(), secrets.token_urlsafe(16))"
)

KINDS, ROWS = 60, 2500
COSTLY = {
    "type": "array",
    "items": {
        "anyOf": [
            {"properties": {f"p{n}": {"const": n}}, "required": [f"p{n}"]} for n in range(KINDS)
        ]
    },
}
"""A schema that takes the validator seconds for ROWS rows that do not fit."""
FITS_NOTHING = [{f"p{n % KINDS}": -1} for n in range(ROWS)]


def sandboxes(*names):
    return pytest.mark.parametrize("sandbox", names, indirect=True)


@pytest.fixture
def sandbox(request):
    name, _, without = request.param.partition(" without ")
    if reason := availability(name).reason:
        pytest.skip(reason)
    with open_sandbox(name, without=[without] if without else ()) as opened:
        yield opened


def run(sandbox, source, *tools):
    trace = sandbox.run(source, Toolbox(tools), limits=Limits(), journal=Journal())
    assert trace.failure is None
    return trace.stdout


# ---- what programs share


def descendants(pid):
    return {process.pid for process in psutil.Process(pid).children(recursive=True)}


@pytest.fixture
def others():
    """Processes that are no sandbox's: what earlier tests left."""
    return set(descendants(os.getpid()))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@sandboxes("zygote", "zygote without namespaces", "monty")
def test_no_process_of_a_sandbox_shares_writable_memory(others, sandbox):
    seen = {}

    def look():
        found = set(descendants(os.getpid())) - others
        seen.update((pid, Path(f"/proc/{pid}/maps").read_text()) for pid in found)

    run(sandbox, "look()", make_tool("look", {}, look))
    assert seen
    assert [
        line for maps in seen.values() for line in maps.splitlines() if re.match(r"\S+ .w.s ", line)
    ] == []


LEAVE = """
import sys, mmap
frame, found = sys._getframe(), []
while frame:
    found += [value for value in frame.f_globals.values() if isinstance(value, mmap.mmap)]
    frame = frame.f_back
print([memory[:4] for memory in found if memory[:4] == b"left"])
for memory in found:
    memory[:4] = b"left"
"""


@sandboxes("zygote", "zygote without namespaces")
def test_programs_read_nothing_from_earlier_ones(sandbox):
    assert [run(sandbox, LEAVE) for _ in range(2)] == ["[]\n", "[]\n"]


NOTICE = """
import ctypes, os
libc = ctypes.CDLL(None)
mapped = ctypes.cast(libc.printf, ctypes.c_void_p)  # in a file that all processes have mapped
print(libc.syscall(FUTEX, mapped, 1, 1, 0, 0, 0))  # how many processes it woke
print(libc.clock_gettime(~PID << 3 | 2, ctypes.create_string_buffer(16)))  # the processor time of another one
"""


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="knows no numbers of system calls"
)
@sandboxes("zygote", "zygote without namespaces")
def test_programs_cannot_notice_each_other(sandbox):
    futex = {"x86_64": 202, "aarch64": 98}[platform.machine()]
    source = NOTICE.replace("FUTEX", str(futex)).replace("PID", str(os.getpid()))
    assert run(sandbox, source) == "-1\n-1\n"


# ---- what programs draw


@contextmanager
def service(program, rows=()):
    """A model that writes `program`, and an API whose one operation gives `rows`, at one address."""
    answered = threading.Event()
    reads = {
        "responses": {
            "200": {"description": "rows", "content": {"application/json": {"schema": COSTLY}}}
        }
    }
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": f"```\n{program}\n```"},
    }

    def answer(seen):
        match seen.path:
            case "/openapi.json":
                paths = {"/rows": {"get": {"operationId": "list_rows", **reads}}}
                about = {
                    "openapi": "3.1.0",
                    "info": {"title": "t", "version": "1"},
                    "servers": [{"url": served.url}],
                }
                return Reply(body={**about, "paths": paths})
            case "/rows":
                answered.set()
                return Reply(body=rows)
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        said = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
        return Reply(body={**said, "choices": [choice]})

    with serving(answer) as served:
        yield types.SimpleNamespace(url=served.url, answered=answered)


@pytest.fixture
def environment(tmp_path):
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ATC_", "OPENAI_"))
    }
    folders = {"XDG_CONFIG_HOME": "user", "ATC_STATE_DIR": "state", "ATC_CACHE_DIR": "cache"}
    return {
        **kept,
        **{name: str(tmp_path / folder) for name, folder in folders.items()},
        "PYTHONPATH": str(ROOT),
    }


def start(environment, served, *words):
    model = {"OPENAI_BASE_URL": f"{served.url}/v1", "OPENAI_API_KEY": "x"}
    command = [
        *ATC,
        "run",
        "How many?",
        "--tools",
        f"{served.url}/openapi.json",
        "--model",
        "m",
        "--strategy",
        "chain",
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [*command, *words], env=environment | model, cwd=environment["ATC_STATE_DIR"], **pipes
    )


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    (tmp_path / "state").mkdir()


def test_each_command_draws_own_values_and_replays(environment):
    with service(CHANCE) as served:
        drawn = [start(environment, served).communicate(timeout=PATIENCE)[0] for _ in range(2)]
    assert all(len(text.split()) == 3 for text in drawn)
    assert not set(drawn[0].split()) & set(drawn[1].split())
    file = Path(environment["ATC_STATE_DIR"], "run.json")
    for words in (["export", "last", "-o", str(file)], ["replay", str(file)]):
        done = subprocess.run(
            [*ATC, "runs", *words], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())["end"]["stdout"] == drawn[1]


@sandboxes("zygote", "monty")
def test_only_a_seed_repeats_drawn_values(sandbox):
    source = "import random\nprint(random.random())"
    agent = Agent(Toolbox(), model=ScriptedModel(*[f"```\n{source}\n```"] * 4), sandbox=sandbox)
    answers = [agent.run("Draw.", seed=seed).answer for seed in (7, 7, None, None)]
    assert answers[0] == answers[1]
    assert len(set(answers)) == 3


# ---- how runs end


PROGRAM = "print(len(list_rows()))"


def test_commands_end_orderly_during_validation(environment):
    with service(PROGRAM, FITS_NOTHING) as served:
        ended = start(environment, served, "--max-seconds", "1")
        said = ended.communicate(timeout=PATIENCE)[1]
        assert (ended.returncode, "FATAL" in said) in ((0, False), (1, False)), said
        served.answered.clear()
        interrupted = start(environment, served)
        assert served.answered.wait(PATIENCE)
        interrupted.send_signal(signal.SIGINT)
        said = interrupted.communicate(timeout=PATIENCE)[1]
        assert (interrupted.returncode, "FATAL" in said) in ((0, False), (130, False)), said


SCRIPT = """
import json, sys
schema, rows, program = json.load(sys.stdin)
from atc import Agent, Config, Toolbox
from atc.models.scripted import ScriptedModel
from sandbox.testing import make_tool
tools = Toolbox([make_tool("list_rows", {}, lambda: rows, output=schema)])
with Agent(tools, model=ScriptedModel(f"```\\n{program}\\n```"), config=Config(samples=1, max_repairs=0)) as agent:
    print(agent.run("How many?", max_seconds=1).status)
"""


def test_scripts_end_orderly_during_validation(environment):
    given = json.dumps([COSTLY, FITS_NOTHING, PROGRAM])
    command, pipes = (
        [sys.executable, "-c", SCRIPT],
        {"input": given, "capture_output": True, "text": True},
    )
    done = subprocess.run(command, env=environment, timeout=PATIENCE, **pipes)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in ("solved\n", "failed\n")


@sandboxes("zygote", "monty")
def test_the_time_limit_covers_recording_calls(sandbox):
    # To find and replace the secrets of this response takes ten seconds and more.
    marks = [f"{n * 0x9E3779B97F4A7C15 % 2**64:016x}" for n in range(100_000)]
    rows = [{"password": mark, "token": mark[::-1], "text": f"Bearer {mark[4:]}"} for mark in marks]
    tools = Toolbox([make_tool("list_rows", {}, lambda: rows)])
    model, config = ScriptedModel(f"```\n{PROGRAM}\n```"), Config(samples=1, max_repairs=0)
    began = time.process_time()
    Agent(tools, model=model, sandbox=sandbox, config=config).run(
        "How many?", observer=str, max_seconds=1
    )
    assert time.process_time() - began < 6


SEEN_NUMBERS = """
import gc, sys
def numbers(values, depth):
    for value in values:
        if type(value) is int:
            yield value
        elif depth and not isinstance(value, (str, bytes, type)):
            yield from numbers(gc.get_referents(value), depth - 1)
frame, found = sys._getframe(), set()
while frame is not None:
    found.update(numbers(list(frame.f_locals.values()), 3))
    frame = frame.f_back
gc.unfreeze()
found.update(numbers(gc.get_objects(), 2))
sorted(number for number in found if 1 < number < 1 << 22)
"""


def _descendants() -> set[int]:
    """The process numbers of all processes under this one."""
    found, left = set[int](), [os.getpid()]
    while left:
        for path in Path(f"/proc/{left.pop()}/task").glob("*/children"):
            with suppress(OSError):
                children = {int(number) for number in path.read_text().split()}
                left += children - found
                found |= children
    return found


@pytest.mark.skipif(
    availability("zygote").reason is not None, reason=str(availability("zygote").reason)
)
def test_programs_find_nothing_of_others_in_memory() -> None:
    begun, go = threading.Semaphore(0), threading.Event()

    def slow() -> int:
        begun.release()
        go.wait(PATIENCE)
        return 1

    tools = Toolbox([make_tool("slow", {}, slow)])
    with open_sandbox("zygote") as sandbox:

        def run(source: str) -> list[int]:
            trace = sandbox.run(source, tools, limits=Limits(), journal=Journal())
            assert trace.failure is None, trace.failure
            return trace.value

        alone = {*run(SEEN_NUMBERS), *run(SEEN_NUMBERS)}
        others = [threading.Thread(target=run, args=("slow()",)) for _ in range(3)]
        for thread in others:
            thread.start()
        for _ in others:
            begun.acquire()
        known = _descendants()
        # The first look is the process that was forked ahead, perhaps before the others were.
        beside = {*run(SEEN_NUMBERS), *run(SEEN_NUMBERS)}
        go.set()
        for thread in others:
            thread.join()
    assert len(known) >= 4
    assert not (beside - alone) & known
