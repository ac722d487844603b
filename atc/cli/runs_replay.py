"""`atc runs replay`: run a recording again, without keys and network."""

from __future__ import annotations

import platform
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.options import json_option
from atc.cli.output import count, print_json, print_text, say
from atc.cli.runs_export import recorded
from atc.cli.settings import load_config
from atc.cli.wiring import open_store

if TYPE_CHECKING:
    from atc.recording.recording import Recording
    from atc.recording.rerun import Verdict

_WIDTH, _BEFORE, _LINES = 240, 60, 40
"""Of a difference: characters of a line, those shown before it begins, lines."""


@click.command(epilog="Example: atc runs replay run.json")
@click.argument("file")
@click.option("--sandbox", metavar="NAME", help="What runs the program; by default what ran it first, if it is here.")
@json_option
def replay(file: str, *, sandbox: str | None, as_json: bool) -> None:
    """Run the program of FILE ('-' reads stdin) again, its calls answered from FILE.

    FILE may also be the id of a stored run. Nothing is sent anywhere and no key is needed. Exit status: 0 it made the
    same calls and gave the same answer, 1 it did not, 2 FILE is no recording, 3 the sandbox is missing.
    """
    from atc.recording.rerun import Replayer

    chosen = sandbox_name(sandbox)
    recording = open_recording(file)
    with Replayer(chosen) as replayer:
        verdict = replayer.rerun(recording)
    if as_json:
        print_json(verdict_document(verdict))
    elif verdict.same and recording.answer is not None:
        print_text(recording.answer)
    for line in [*edits(recording), sentence(verdict), *difference(verdict)]:
        say(line)
    sys.exit(0 if verdict.same else 1)


def sandbox_name(flag: str | None) -> str:
    """The sandbox of the flag, or of the settings."""
    return load_config({"sandbox": flag})[0].sandbox


def open_recording(name: str) -> Recording:
    """The recording in a file, on stdin (`-`), or of a stored run.

    Raises:
        InvalidRecording: it cannot be read, or is none.
        UnknownRun: there is neither a file nor a run of this name.
    """
    from atc.recording.document import parse

    if name == "-":
        return parse(sys.stdin.read(), where="stdin")
    path = Path(name)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return parse(_text(path), where=name)
    with open_store(load_config()[0]) as store:
        stored = store.load(name)
    return recorded(stored)


def _text(path: Path) -> str:
    from atc.recording.recording import InvalidRecording

    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRecording(str(path), "it is not text, so it is no recording of a run.") from None
    except OSError as error:
        raise InvalidRecording(str(path), f"it cannot be read: {error.strerror or error}.") from error


def sentence(verdict: Verdict) -> str:
    """What came of it, in a line."""
    recording = verdict.recording
    calls = count(len(recording.trace.calls), "call")
    how = f"{calls}, {verdict.seconds * 1000:.0f} ms, {verdict.backend}"
    if verdict.same:
        return f"the same {'answer' if recording.answer is not None else f'end ({_failure(recording)})'} ({how})"
    assert verdict.departure is not None
    index = verdict.departure.index
    place = f"at call {index}" if index < len(recording.trace.calls) else f"after {count(index, 'call')}"
    said = "Diverged"
    if verdict.kind == "redacted":
        said += ": redacted (the program works with the characters of a secret, and a placeholder stands for it)"
    return f"{said} {place}{_elsewhere(verdict)}"


def _elsewhere(verdict: Verdict) -> str:
    """What was not as it was when the run was recorded, where that may be why it departed."""
    recording = verdict.recording
    python = recording.versions.get("python", "").rpartition(".")[0], platform.python_version().rpartition(".")[0]
    pairs = [
        (recording.trace.backend, verdict.backend),
        *([(f"Python {python[0]}", f"Python {python[1]}")] if python[0] else []),
    ]
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return "".join(f"; it was recorded on {then}, and this is {now}" for then, now in differing)


def difference(verdict: Verdict) -> list[str]:
    """What was expected (`-`) and what came (`+`), line by line; nothing where it was the same."""
    if verdict.departure is None:
        return []
    expected, got = verdict.departure.expected, verdict.departure.got
    if "\n" not in expected + got:
        same = next((at for at, (one, other) in enumerate(zip(expected, got, strict=False)) if one != other), 0)
        start = max(0, same - _BEFORE)
        return [f"{sign} {'…' * bool(start)}{text[start:][:_WIDTH]}" for sign, text in (("-", expected), ("+", got))]
    lines = list(unified_diff(expected.splitlines(), got.splitlines(), lineterm="", n=1))[2:]
    return [f"{line[0]} {line[1:][:_WIDTH]}" for line in lines[:_LINES] if not line.startswith("@@")]


def edits(recording: Recording) -> list[str]:
    """A warning for a file that somebody changed by hand."""
    changed = ", ".join(recording.edited[:5]) + (", …" if len(recording.edited) > 5 else "")
    return [f"The file was edited after it was recorded ({changed})."] if recording.edited else []


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON."""
    recording, departure = verdict.recording, verdict.departure
    return {
        "run": recording.run,
        "same": verdict.same,
        "answer": recording.answer,
        "calls": len(recording.trace.calls),
        "sandbox": verdict.backend,
        "seconds": round(verdict.seconds, 3),
        "edited": list(recording.edited),
        "diverged": departure
        and {
            "redacted": verdict.kind == "redacted",
            "index": departure.index,
            "expected": departure.expected,
            "got": departure.got,
        },
    }


def _failure(recording: Recording) -> str:
    failure = recording.trace.failure
    return f"{failure.type}: {failure.message}"[:_WIDTH] if failure else "no answer"
