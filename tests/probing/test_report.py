"""The folder that a probing leaves: files for every system, stable bytes, nobody's edits lost, a source of tools."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from probing.probe import Probed
from probing.report import write
from probing.samples import Log
from probing.tool_facts import learn
from protocols.protocol import Link, load
from protocols.sources.folder import read_folder
from tests.labs.probing_tools import sample, tool

TOKEN = "ghp_abcdefghijABCDEFGHIJ0123456789abcdef"


URL = "https://api.example.org"
LIST, GET = tool(URL, "list_users", arguments=()), tool(URL, "get/user", arguments=("id", "full"))
EMPTY, LOST = tool(URL, "empty", arguments=()), tool(URL, "get_lost", arguments=("code",))
ADD = tool(URL, "add_user", method="POST", arguments=("name",))
SAMPLES = [
    sample(1, {"users": [{"id": "u-171"}], "tags": [], "token": TOKEN}, tool="list_users"),
    sample(2, {"id": "u-171"}, tool="get/user", id="u-171"),
    sample(3, tool="get/user", status=404, error="there is no user 'u-999'.", id="u-999"),
    sample(4, {"rows": []}, tool="empty"),
    sample(
        5,
        tool="get_lost",
        status=422,
        error="argument 'code' must be a known code, got 'a'.",
        code="a",
    ),
    sample(
        6,
        tool="get_lost",
        status=422,
        error="argument 'code' must be a known code, got 'b'.",
        code="b",
    ),
    sample(7, tool="get_lost", outcome="unknown", error="timed out", code="c"),
]
WHY_NOT = "it changes something; --allow-writes lets it be called"


def probed(samples=SAMPLES, protocols=(LIST, GET, EMPTY, ADD, LOST)):
    link = Link(argument="id", tool="list_users", path="users[].id", support="observed")
    return Probed(
        facts={p.name: learn(p, samples) for p in protocols},
        links={"get/user": [link]},
        stopped={"add_user": WHY_NOT},
    )


def files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_a_folder_of_protocols_is_a_source(tmp_path):
    written = write(tmp_path, probed())
    found = {p.name: p for p in read_folder(tmp_path)}
    assert found == dict(written.protocols)
    assert set(found) == {"list_users", "get/user", "empty", "add_user", "get_lost"}


def test_what_a_person_changed_is_kept(tmp_path):
    write(tmp_path, probed())
    edited = tmp_path / "list_users.json"
    edited.write_text(
        edited.read_text().replace('"name": "list_users"', '"name": "list_users", "title": "Mine"')
    )
    (tmp_path / "COVERAGE.md").unlink()
    new = {"users": [{"id": "u-2", "tags": ["x"]}], "token": TOKEN, "n": 1}
    more = [*SAMPLES, sample(8, new, tool="list_users", n=1)]
    for _ in range(2):
        written = write(tmp_path, probed(more))
        assert written.kept == ("list_users.json",)
        assert load(json.loads(edited.read_text())).title == "Mine"
    assert (tmp_path / "COVERAGE.md").exists()
    edited.unlink()
    assert "list_users.json" in write(tmp_path, probed(more)).written


def test_no_secret_and_no_value_leaves_the_log(tmp_path):
    with Log(tmp_path) as log:
        for one in SAMPLES:
            log.add(one)
    write(tmp_path, probed())
    outside = b"".join(files(tmp_path).values())
    assert TOKEN.encode() not in outside
    assert b"u-171" not in outside
    assert TOKEN.encode() in (tmp_path / ".probe" / "samples.jsonl").read_bytes()


def test_the_report_says_what_is_missing_and_why(tmp_path):
    write(tmp_path, probed())
    report = json.loads((tmp_path / "coverage.json").read_text())
    missing = {name: tool["missing"] for name, tool in report["coverage"].items()}
    assert missing["add_user"] == [WHY_NOT]
    assert missing["empty"] == [
        "only empty responses came, so nothing is known of what they may hold."
    ]
    assert missing["get/user"] == ["'full' was never given."]
    assert any(
        text.startswith("none of its 3 calls gave a response (422 × 2, no usable")
        for text in missing["get_lost"]
    )
    assert report["totals"]["answered"] == 3


def test_a_report_holds_no_markup_of_a_service(tmp_path):
    hostile = sample(
        1,
        tool="get_lost",
        status=400,
        error="<img src=x onerror=alert(1)> | [a](http://evil)\x1b[31m",
        code="q",
    )
    write(tmp_path, probed([hostile], [LOST]))
    text = (tmp_path / "COVERAGE.md").read_text()
    assert "<img" not in text.replace("\\<img", "")
    assert "\x1b" not in text


@given(
    st.sets(
        st.text(min_size=1, max_size=30) | st.just("coverage") | st.text("/é", min_size=300),
        max_size=6,
    )
)
def test_each_tool_has_a_portable_file(tools):
    with TemporaryDirectory() as folder:
        write(Path(folder), probed([], [tool(URL, name) for name in tools]))
        names = files(Path(folder)).keys() - {"coverage.json", "COVERAGE.md"}
    assert len(names) == len(tools)
    for name in names:
        assert name.isascii()
        assert not set(name) & set('<>:"/\\|?* \0')
        assert not name.startswith((".", "-"))
        assert len(name) <= 120
