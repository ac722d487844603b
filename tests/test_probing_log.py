"""The log of a probing: nothing learned is lost, and no call is made twice."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.samples import FOLDER, Log, LogUnreadable, Origin, Sample, Value, from_line, to_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def sample(number: int = 1, **changes: object) -> Sample:
    value = Value("BOS", Origin(kind="response", tool="list_airports", path="airports[].code", sample=7))
    return Sample(**({"number": number, "tool": "get_airport", "arguments": {"code": value}} | changes))


def path_of(folder: Path) -> Path:
    return folder / FOLDER / "samples.jsonl"


@given(response=JSON, error=st.text(), answer=st.none() | st.text())
def test_a_sample_survives_its_line(response: object, error: str, answer: str | None) -> None:
    given_ = sample(response=response, error=error, answer=answer, outcome="refused", status=404, seconds=0.25)
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
        assert (again.intents, again.sent, again.next_number) == ({}, 1, 2)


@pytest.mark.parametrize("cut", [1, 60])
def test_a_line_cut_by_a_kill_is_dropped(tmp_path: Path, cut: int) -> None:
    with Log(tmp_path) as log:
        log.add(sample(1))
    whole = path_of(tmp_path).read_bytes()
    path_of(tmp_path).write_bytes(whole + to_line(sample(2)).encode()[:cut])
    with Log(tmp_path) as again:
        assert [s.number for s in again.samples] == [1]
        again.add(sample(2, tool="other"))
    with Log(tmp_path) as last:
        assert [s.number for s in last.samples] == [1, 2]


def test_two_processes_do_not_share_a_log(tmp_path: Path) -> None:
    with Log(tmp_path), pytest.raises(LogUnreadable, match="by another process"):
        Log(tmp_path)


def test_a_spoilt_line_says_where_it_stands(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.add(sample(1))
    path_of(tmp_path).write_text("nonsense\n" + path_of(tmp_path).read_text())
    with pytest.raises(LogUnreadable, match=r"line 1, cannot be read .* to probe anew"):
        Log(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_only_its_owner_reads_it_and_git_leaves_it_out(tmp_path: Path) -> None:
    Log(tmp_path).close()
    assert stat.S_IMODE(path_of(tmp_path).stat().st_mode) == 0o600
    assert (tmp_path / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_call_that_came_to_nothing_may_be_made_again_and_still_counts(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.intend("get_airport", {"code": "BOS"}, number=1)
        log.void(1)
        assert not log.intended("get_airport", {"code": "BOS"})
        assert (log.sent, log.sent_to("get_airport"), log.next_number) == (1, 1, 2)
        log.add(sample(2, status=401, outcome="refused"))
        log.void(2, sent=False)
    with Log(tmp_path) as again:
        assert (again.samples, again.find("get_airport", {"code": "BOS"})) == ([], None)
        assert (again.sent, again.sent_to("get_airport"), again.next_number) == (1, 1, 3)
