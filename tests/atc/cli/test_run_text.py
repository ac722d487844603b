"""A stored run as text for people."""

from atc.cli.run_text import clip_line, format_run
from atc.core.program import Program
from atc.core.types import Attempt
from atc.store.stored import RunSummary, StoredRun
from sandbox.trace import Failure, Trace


def test_a_line_is_clipped():
    assert clip_line("a\nb") == "a b"
    assert len(clip_line("x" * 1000)) < 1000


def test_what_a_paused_run_needs_is_whole():
    remedy = f"get_it needs the credential 'key'; {'x' * 400} paste this"
    failure = Failure(kind="paused", type="RemedyNeeded", message=remedy)
    attempt = Attempt(Program("get_it()"), trace=Trace(failure=failure))
    summary = RunSummary(task="t", created=0.0, status="paused")
    stored = StoredRun(summary=summary, attempts=(attempt,), calls=(), exchanges=())
    assert f"paused   {remedy}" in format_run(stored, prompts=False)
