"""`atc runs test`: run recordings again, as a test suite."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.options import json_option
from atc.cli.output import clipped, count, print_json, print_text, say
from atc.cli.runs_replay import difference, edits, open_recording, sandbox_name, sentence, verdict_document
from protocols.errors import AtcError
from protocols.files import write_whole

if TYPE_CHECKING:
    from atc.recording.junit import Case
    from atc.recording.rerun import Replayer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One file: whether it gave the same, in a line, in detail, and as JSON."""

    file: str
    state: str
    """passed, failed (it departed), or error (it is no recording, or no sandbox runs it)."""
    said: str
    problem: str = ""
    """The whole sentence, for a report that may show no more than that."""
    detail: str = ""
    seconds: float = 0.0
    document: dict[str, Any] | None = None


@click.command(epilog="Example: atc runs test tests/runs/ --junit report.xml")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--sandbox", metavar="NAME", help="What runs the programs; by default what ran each first, if it is here."
)
@click.option(
    "--junit", "report", type=click.Path(path_type=Path), metavar="OUT.xml", help="Also write a JUnit report."
)
@json_option
def test(files: tuple[str, ...], *, sandbox: str | None, report: Path | None, as_json: bool) -> None:
    """Replay FILES, recordings or folders that hold some, and say of each whether it gave the same answer.

    Needs neither keys nor network. Exit status: 0 all did, 1 one did not or cannot be read, 2 there is none.
    """
    from atc.recording.rerun import Replayer

    chosen = sandbox_name(sandbox)
    found = list(dict.fromkeys(_recordings(files)))
    if not found:
        raise click.UsageError("there is no recording in it; 'atc runs export RUN -o FILE' writes one")
    results = []
    with Replayer(chosen) as replayer:
        for file in found:
            results.append(_tried(file, replayer))
            if not as_json:
                _tell(results[-1])
    if report is not None:
        from atc.recording.junit import junit

        write_whole(report, junit([_case(result) for result in results]))
    if as_json:
        print_json([{"file": r.file, "state": r.state, "said": r.said} | (r.document or {}) for r in results])
    bad = [result for result in results if result.state != "passed"]
    say(f"{len(results) - len(bad)} of {count(len(results), 'recording')} gave the same answer.")
    sys.exit(1 if bad else 0)


def _recordings(files: Sequence[str]) -> Iterator[str]:
    """Files as they were given; of a folder, all recordings below it. What else it holds is passed over."""
    for file in files:
        if not Path(file).is_dir():
            yield file
            continue
        for path in sorted(Path(file).rglob("*.json")):
            if path.is_file() and _claims_to_be_one(path):
                yield str(path)


def _claims_to_be_one(path: Path) -> bool:
    """Whether it is a recording, whole or not: one that was cut off is worth telling."""
    try:
        return b'"atc recording ' in path.read_bytes()
    except OSError:
        return False


def _tried(file: str, replayer: Replayer) -> _Result:
    began = time.monotonic()
    try:
        recording = open_recording(file)
        verdict = replayer.rerun(recording)
    except AtcError as error:
        return _Result(file=file, state="error", said=str(error), problem=str(error), seconds=time.monotonic() - began)
    return _Result(
        file=file,
        state="passed" if verdict.same else "failed",
        said=sentence(verdict),
        problem=clipped(str(verdict.departure or ""), 500),
        detail="\n".join([*difference(verdict), *edits(recording)]),
        seconds=time.monotonic() - began,
        document=verdict_document(verdict),
    )


def _tell(result: _Result) -> None:
    print_text(f"{_WORDS[result.state]}  {result.file}  {' '.join(result.said.split())}")
    for line in result.detail.splitlines():
        print_text(f"      {line}")


def _case(result: _Result) -> Case:
    from atc.recording.junit import Case

    path = Path(result.file)
    return Case(
        suite=".".join(path.parent.parts) or "recordings",
        name=path.name,
        file=result.file,
        seconds=result.seconds,
        problem=None if result.state == "passed" else result.problem,
        failed=result.state == "failed",
        detail=result.detail,
    )


_WORDS = {"passed": "ok   ", "failed": "FAIL ", "error": "ERROR"}
