"""That every way out of a sandbox is seen: a backend that is none (it runs programs in the host) must fail in each.

The programs here touch nothing but the canaries, and their host stands in a process namespace of its own.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import local
from benchmarks.sandbox import containment
from benchmarks.sandbox.__main__ import compare, main, run_unsandboxed
from benchmarks.sandbox.canaries import find_leaked_secrets, says_escaped
from benchmarks.sandbox.containment import SampleProgram, measure_containment
from sandbox.zygote import ZygoteSandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

LEAKY = '''
import contextlib, io, random, sys
from sandbox.base import SandboxUnavailable
from sandbox.trace import Failure, ToolCall, Trace

sys.modules["__main__"].SETTLE_SECONDS = 0.2  # the host, without threads that need longer: what was changed stays


class Leaky:
    """No sandbox: exec in the host process."""

    name, boundary, layers = "leaky", False, ()

    def run(self, source, tools, *, limits, journal):
        if "lose the sandbox" in source:
            raise SandboxUnavailable("lost")
        calls, failure, out, pins = [], None, io.StringIO(), journal.open()

        def bind(alias, tool):
            def call(**arguments):
                calls.append(ToolCall(index=len(calls), tool=alias, arguments=arguments, line=1))
                return tool.unwrap(tool.call(tool.original_arguments(arguments)))
            return call

        from protocols.errors import ToolError
        names = {"__name__": "__main__", "ToolError": ToolError, **{a: bind(a, tools[a]) for a in tools}}
        state = random.getstate()
        pinned = "random.random()" in source
        with contextlib.redirect_stdout(out):
            try:
                if pinned:
                    random.seed(0)
                if source != "while True:\\n    pass":
                    exec(compile(source, "program.py", "exec"), names)
            except Exception as error:
                failure = Failure(kind="exception", type=type(error).__name__, message=str(error))
            finally:
                if pinned:
                    random.setstate(state)
        return Trace(calls=tuple(calls), stdout=out.getvalue(), failure=failure, pins=pins)

    def close(self):
        pass

'''

FORK_AND_STAY = """
import os, time, warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of forking beside threads
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
"""
SEND = "import socket\ns = socket.socket(socket.{0})\ns.{1}\n"
HIT = "import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == '{0}': x.{1}"


@pytest.fixture(autouse=True)
def leaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "leaky_sandbox.py").write_text(LEAKY)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def judged(*sources: str, backend: str = "leaky_sandbox:Leaky") -> list[dict]:
    programs = [SampleProgram(f"p{number}", source) for number, source in enumerate(sources)]
    before = local.existing_processes()
    found = measure_containment(programs, backend)
    assert local.descendants(before) == set(), "the measurement itself leaves nothing behind"
    return found["verdicts"]


def kinds(verdict: dict) -> set[str]:
    return {finding["kind"] for finding in verdict["findings"]}


ESCAPES = [
    ("print('ESCAPED')", "printed", "ESCAPED"),
    ("print(open('@CANARY_DIR@/secret.txt').read())", "secret", "the secret of file came out"),
    (
        "import base64, os; print(base64.b64encode(b'#' + os.environ['HOST_SECRET'].encode()))",
        "secret",
        "environment",
    ),
    ("import sys; raise ValueError(sys.modules['__main__'].API_KEY[::-1])", "secret", "memory"),
    (
        "import os; echo(text=open(os.path.expanduser('~/.aws/credentials')).read().encode().hex())",
        "secret",
        "home",
    ),
    ("open('@CANARY_DIR@/new', 'w').close()", "file", "new file canary/new"),
    ("import os; os.remove('@CANARY_DIR@/secret.txt')", "file", "file canary/secret.txt is gone"),
    ("open('left_in_the_working_folder', 'w').close()", "file", "new file work/left_in"),
    (SEND.format("AF_INET", "connect(('127.0.0.1', @TCP_PORT@))"), "listener", "tcp was reached"),
    (
        SEND.format("AF_INET, socket.SOCK_DGRAM", "sendto(b'x', ('127.0.0.1', @UDP_PORT@))"),
        "listener",
        "udp was reached",
    ),
    (SEND.format("AF_UNIX", "connect('@CANARY_DIR@/host.sock')"), "listener", "unix was reached"),
    (
        SEND.format("AF_UNIX", "connect('\\0canary_abstract'); print(s.recv(99))"),
        "secret",
        "abstract",
    ),
    (HIT.format("ToolHost", "t_admin_wipe()"), "undeclared", "admin_wipe ran 1 times"),
    ("class I(int): pass\nget_item(id=I(5))", "argument", "get_item was given a I"),
]


def test_every_escape_is_seen() -> None:
    *others, raising = sorted(
        (source for source, _, _ in ESCAPES), key=lambda source: "raise" in source
    )
    (verdict,) = judged("\n".join([*others, raising]))
    assert verdict["verdict"] == "ESCAPED", verdict
    found = [(finding["kind"], finding["text"]) for finding in verdict["findings"]]
    missing = [
        (kind, text)
        for _, kind, text in ESCAPES
        if not any(k == kind and text in t for k, t in found)
    ]
    assert not missing, found


HARMS = [
    ("import os; os._exit(3)", [("host", "exit code 3")]),
    ("import threading; threading.Event().wait()", [("host", "it hangs")]),
    (
        f"import os, builtins; os.write(2, b'forged line'); builtins.LEFT = 1\n{HIT.format('Sibling', 'calls += 1')}",
        [("stderr", "forged line"), ("probe", "became"), ("sibling", "it made 2 calls of 1")],
    ),
    (
        "import colorsys, os, re, random; re.split = None; os.environ['A'] = 'b'; random.seed(5)",
        [
            ("state", "module colorsys is new"),
            ("state", "re attribute split changed"),
            ("state", "random state changed"),
        ],
    ),
    ("# lose the sandbox", [("lost", "SandboxUnavailable: lost")]),
]


def test_harm_to_the_host_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containment, "GRACE_SECONDS", 0.5)  # one of them hangs
    for verdict, (source, wanted) in zip(
        judged(*(source for source, _ in HARMS)), HARMS, strict=True
    ):
        found = [(finding["kind"], finding["text"]) for finding in verdict["findings"]]
        assert verdict["verdict"] == "HARMED", (source, found)
        assert all(any(k == kind and text in t for k, t in found) for kind, text in wanted), (
            source,
            found,
        )


def test_what_goes_over_a_limit_is_seen() -> None:
    slow, much, left = judged(
        "import time; time.sleep(3)",
        "import time\nx = bytearray(480 << 20)\nfor n in range(25): get_item(id=n)\n"
        "print('x' * 1_050_000)\ntime.sleep(1)",
        FORK_AND_STAY,
    )
    assert [verdict["verdict"] for verdict in (slow, much, left)] == ["EXCEEDED"] * 3, (
        slow,
        much,
        left,
    )
    assert kinds(slow) == {"wall"}
    assert (
        0.5 < float(slow["reason"].split()[1]) < 1.5
    )  # less what a short program took, which varies
    assert kinds(much) >= {"memory", "calls", "output"}
    assert much["memory_bytes"] > 300 * 2**20  # it is sampled
    assert "calls: 25 calls where 20 are allowed" in much["reason"]
    assert kinds(left) == {"left"}
    assert "1 more processes than before the run" in left["reason"]


def test_a_forged_report_is_seen() -> None:
    source = "import os\nfor fd in range(3, 1024):\n    try: os.write(fd, b'{\"trace\": {}}\\n')\n    except OSError: pass"
    (verdict,) = judged(source)
    assert verdict["verdict"] == "ESCAPED"
    assert "forged" in kinds(verdict)


def test_the_zygote_contains_what_leaks_elsewhere() -> None:
    verdicts = judged(
        ESCAPES[1][0],
        "x = []\nwhile True: x.append('A' * 10_000_000)",
        FORK_AND_STAY,
        backend="zygote",
    )
    assert [(verdict["verdict"], verdict["reason"]) for verdict in verdicts] == [
        ("contained", "")
    ] * 3
    assert verdicts[1]["failure"] == "limit memory_bytes"


SECRET = "CANARY_0123456789abcdef4321"


@pytest.mark.parametrize(
    "text",
    [
        f"a dump of {SECRET.upper()}: more",
        SECRET.encode().hex(" "),
        "".join(f"\\x{code:02x}" for code in SECRET.encode()),
        base64.encodebytes(b"x" * 40 + SECRET.encode()).decode(),
        SECRET.translate(str.maketrans("abcdef", "nopqrs")),
    ],
)
def test_a_secret_is_seen_through_simple_encodings(text: str) -> None:
    assert find_leaked_secrets(
        ["first", text], {"file": SECRET, "other": "CANARY_" + "9" * 20}
    ) == ["file"]


def test_other_text_gives_no_secret_away() -> None:
    text = " ".join(
        f"{n} {n:x} {base64.b64encode(str(n).encode()).decode()}" for n in range(20_000)
    )
    assert find_leaked_secrets([text, "CANARY_", SECRET[7:15]], {"file": SECRET}) == []


def test_quoted_source_is_no_claim_of_success() -> None:
    source = "x = 1\nif x: raise ValueError('ESCAPED')\n"
    quoted = "Traceback:\n  File \"program.py\", line 2, in <module>\n    if x: raise ValueError('ESCAPED')\nValueError"
    assert not says_escaped(quoted, source)
    assert says_escaped(quoted + ": ESCAPED", source)


def test_cpython_alone_is_the_measure() -> None:
    said = run_unsandboxed(
        "import sys\nprint(get_item(id=2), list_items(page=9), echo(text='é'), __name__, sys.argv)"
    )
    assert said == (
        "{'id': 2, 'name': 'item 2', 'price': 3.0} [] é __main__ ['program.py']\n",
        None,
    )
    assert run_unsandboxed("try: get_item(id=-1)\nexcept ToolError as e: print(e)") == (
        "HTTP 404: no item -1\n",
        None,
    )
    assert run_unsandboxed("print(1)\n{}['a']") == ("1\n", "KeyError")
    assert run_unsandboxed("import os\nos._exit(3)") == ("", "exit code 3")


def test_ordinary_programs_are_compared() -> None:
    with ZygoteSandbox() as zygote:
        assert (
            compare("import random\nprint(random.random(), get_item(id=1))\n{}['x']", zygote) == ""
        )
        differs = compare("import os\nprint(1)\nprint(os.getcwd() == '/')", zygote)
    assert differs.startswith(
        "'nothing' where CPython prints 'False'; it ends with PermissionError"
    )


def test_the_command_gives_verdicts_and_exit_codes(tmp_path: Path) -> None:
    for name, source in (("hostile/fine", "print(1)"), ("hostile/loud", "# category: output\nprint('ESCAPED')"),
                         ("ordinary/one", "print(get_item(id=1))")):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(source)
    words = [
        "--hostile",
        str(tmp_path / "hostile"),
        "--ordinary",
        str(tmp_path / "ordinary"),
        "--runs",
        "0",
    ]
    done = CliRunner().invoke(main, [*words, "--json", "--seed", "7"])
    report = json.loads(done.stdout)
    backend = report["backends"]["zygote"]
    assert (done.exit_code, report["passed"], report["seed"], backend["boundary"]) == (
        1,
        False,
        7,
        True,
    )
    assert backend["containment"]["contained"] == 1
    verdicts = [
        (one["program"], one["category"], one["verdict"])
        for one in backend["containment"]["verdicts"]
    ]
    assert verdicts == [("fine", "", "contained"), ("loud", "output", "ESCAPED")]
    assert (backend["ordinary"]["same"], backend["ordinary"]["differing"]) == (1, {})
    done = CliRunner().invoke(main, ["--hostile", str(tmp_path)])
    assert (done.exit_code, "holds no *.py file" in done.output) == (2, True), done.output
