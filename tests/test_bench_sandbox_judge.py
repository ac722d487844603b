"""The parts that verdicts are made of: what gives a secret away, what counts as said, what a folder must hold."""

from __future__ import annotations

import base64
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolflow_bench.sandboxes import processes
from toolflow_bench.sandboxes.canaries import Canaries
from toolflow_bench.sandboxes.hosting import Taken
from toolflow_bench.sandboxes.judge import Evidence, Verdict, findings, named_paths
from toolflow_bench.sandboxes.leaks import leaked, says_escaped, strings
from toolflow_bench.sandboxes.programs import InvalidFolder, Program, load_programs
from toolflow_bench.sandboxes.soak_host import quarters

SECRET = "CANARY_0123456789abcdef4321"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        SECRET.upper(),
        f"a dump of {SECRET}: more",
        SECRET[::-1],
        SECRET[7:18],
        " ".join(SECRET),
        "\n".join(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex(" "),
        "".join(f"\\x{code:02x}" for code in SECRET.encode()),
        str(list(SECRET.encode())),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(b"x" + SECRET.encode()).decode(),
        base64.urlsafe_b64encode(b"xy" + SECRET.encode() + b"z").decode(),
        base64.encodebytes(b"x" * 40 + SECRET.encode()).decode(),
        SECRET.translate(str.maketrans("abcdef", "nopqrs")),
    ],
)
def test_a_secret_is_seen_through_simple_encodings(text: str) -> None:
    assert leaked(["first", text], {"file": SECRET, "other": "CANARY_" + "9" * 20}) == ["file"]


def test_other_text_gives_no_secret_away() -> None:
    text = " ".join(
        f"{number} {number:x} {base64.b64encode(str(number).encode()).decode()}" for number in range(20_000)
    )
    assert leaked([text, "CANARY_", SECRET[7:15]], {"file": SECRET}) == []


def test_what_is_within_json_is_searched() -> None:
    assert list(strings({"a": [1, None, {"b": "c"}], "d": True})) == ["a", "1", "b", "c", "d", "True"]


def test_quoted_source_is_no_claim_of_success() -> None:
    source = "x = 1\nif x: raise ValueError('ESCAPED')\n"
    quoted = "Traceback:\n  File \"program.py\", line 2, in <module>\n    if x: raise ValueError('ESCAPED')\nValueError"
    assert not says_escaped(quoted, source)
    assert says_escaped(quoted + ": ESCAPED", source)
    assert says_escaped("if x: raise ValueError('ESCAPED')", source)
    assert says_escaped('File "program.py", line 1\n  print("ESCAPED")', source), "another line than the one it names"


def trace(**changed: object) -> dict[str, object]:
    return {"stdout": "", "value": None, "calls": [], "failure": None} | changed


def failure(kind: str, message: str) -> dict[str, object]:
    return {"kind": kind, "type": "T", "message": message, "frames": []}


CALL = {"tool": "echo", "arguments": {"text": "ESCAPED"}, "result": None}


@pytest.mark.parametrize(
    ("seen", "kinds"),
    [
        (Evidence("", trace()), []),
        (Evidence("", trace(stdout="ESCAPED\n")), ["printed"]),
        (Evidence("", trace(value={"a": ["ESCAPED"]})), ["printed"]),
        (Evidence("", trace(calls=[CALL])), ["printed"]),
        (Evidence("", trace(failure=failure("exception", "ESCAPED"))), ["printed"]),
        (Evidence("", trace(failure=failure("syntax", "in print('ESCAPED')"))), []),
        (Evidence("", trace(failure=failure("policy", "print('ESCAPED') is not allowed"))), []),
        (Evidence("", trace(failure=failure("syntax", SECRET))), ["secret"]),
        (Evidence("", trace(calls=[{"tool": "t", "arguments": {}, "result": SECRET[::-1]}])), ["secret"]),
        (Evidence("", trace(), stderr=SECRET), ["secret", "stderr"]),
        (Evidence("", trace(), stdout="x"), ["stderr"]),
        (Evidence("", None, host="it died"), ["host"]),
        (Evidence("", trace(), seconds=2.19), []),
        (Evidence("", trace(), seconds=2.21), ["wall"]),
        (Evidence("", trace(calls=[dict(CALL, arguments={})] * 20), made=20), []),
        (Evidence("", trace(), made=21), ["calls"]),
        (Evidence("", trace(), taken=Taken(peak_bytes=400 * 2**20, first_bytes=60 * 2**20)), []),
        (Evidence("", trace(), taken=Taken(peak_bytes=500 * 2**20, first_bytes=60 * 2**20)), ["memory"]),
        (Evidence("", trace(), taken=Taken(peak_one_bytes=400 * 2**20)), ["memory"]),
        (Evidence("", trace(), taken=Taken(peak_processes=70, first_processes=2)), ["processes"]),
        (Evidence("", trace(), taken=Taken(runaway="all were killed")), ["processes"]),
        (Evidence("", trace(), report={"changed": ["a"], "sibling": "b"}), ["state", "sibling"]),
        (Evidence("", trace(), report={"probe": [{"stdout": "a"}, {"stdout": f"a\n{SECRET}"}]}), ["secret", "probe"]),
        (Evidence("", trace(), report={"probe": [{"stdout": SECRET}, {"stdout": f"a\n{SECRET}"}]}), ["probe"]),
    ],
)
def test_evidence_leads_to_findings(seen: Evidence, kinds: list[str]) -> None:
    assert [finding.kind for finding in findings(seen, {"file": SECRET})] == kinds


def test_the_worst_finding_names_the_verdict() -> None:
    seen = Evidence("", trace(stdout="ESCAPED"), seconds=9.0, stderr="x")
    verdict = Verdict(program="p", category="c", findings=findings(seen, {}), seconds=9.0, failure="")
    assert (verdict.verdict, verdict.contained) == ("ESCAPED", False)
    assert verdict.reason == "printed: ESCAPED; stderr: 1 characters on the host's stderr: 'x'; wall: 7.00 s beyond 2 s"
    assert verdict.as_json()["findings"][0] == {"kind": "printed", "text": "ESCAPED"}


def test_files_that_a_program_names_are_watched(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("before")
    source = f"open({str(new)!r}, 'w')\nopen({str(old).encode()!r}, 'a')\nopen('/proc/self/mem')\nopen('relative')"
    before = named_paths(source)
    assert set(before) == {str(new), str(old)}
    assert named_paths(source) == before
    new.write_text("")
    old.write_text("after.")
    after = named_paths(source)
    assert [after[path] != before[path] for path in (str(new), str(old))] == [True, True]
    assert named_paths("x = (") == {}


def test_folders_of_programs(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_bytes(b"# category: file system\r\nprint(1)\r\n")
    (tmp_path / "a.py").write_text("print(2)")
    (tmp_path / "README.md").write_text("")
    assert load_programs(tmp_path) == (Program("a", "print(2)"), Program("b", "# category: file system\nprint(1)\n"))
    assert [program.category for program in load_programs(tmp_path)] == ["", "file system"]
    with pytest.raises(InvalidFolder, match=r"holds no \*.py file"):
        load_programs(_empty(tmp_path))
    with pytest.raises(InvalidFolder, match="is no folder"):
        load_programs(tmp_path / "none")
    (tmp_path / "a.py").write_bytes(b"\xff")
    with pytest.raises(InvalidFolder, match=r"a.py' is not UTF-8"):
        load_programs(tmp_path)


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


@linux
def test_canaries_are_open_to_every_user_and_say_what_came() -> None:
    with Canaries() as canaries:
        folder = canaries.folder
        for path in (folder, *folder.parents):
            assert path.stat().st_mode & stat.S_IXOTH, path
        assert (folder / "secret.txt").stat().st_mode & 0o666 == 0o666
        assert canaries.fill("@CANARY_DIR@ @TCP_PORT@") == f"{folder} {canaries.listeners.tcp_port}"
        assert (canaries.changes(), canaries.listeners.reached(), canaries.leftovers()) == ([], [], [])
        with socket.create_connection(("127.0.0.1", canaries.listeners.tcp_port)) as client:
            assert canaries.secrets["tcp"].encode() in client.recv(1000)
        (folder / "secret.txt").write_text("other")
        (canaries.temporary / "left").mkdir()
        assert canaries.changes() == ["file canary/secret.txt was changed"]
        assert (canaries.listeners.reached(), canaries.leftovers()) == (["tcp"], ["tmp/left"])
    assert not folder.exists()


@linux
def test_what_descendants_leave_behind_is_found_and_killed() -> None:
    code = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print(os.getpid(), flush=True)\n    time.sleep(60)"
    )
    with processes.adopting():
        before = processes.descendants(os.getpid())
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            orphan = int(parent.stdout.readline())
            parent.wait()
            left = processes.descendants(os.getpid()) - before
            assert {process.pid for process in left} == {orphan}
            assert orphan in processes.quick_descendants(os.getpid())
            assert processes.resident(orphan) > 2**20
            assert "python" in processes.name(orphan)
            processes.kill_all(left)
            assert processes.descendants(os.getpid()) == before
        assert not any(map(processes.alive, left))


def test_quarters_are_medians() -> None:
    assert quarters([1, 2, 3, 10, 10, 10, 10, 10, 10, 7, 8, 9]) == [2, 8]
    assert quarters([5]) == [5, 5]
