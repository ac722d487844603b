"""`atc runs replay` and `atc runs test`: run exported programs again, offline."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from atc.archive.recording import Recording, Replayer
from atc.archive.recording.document import parse_recording
from atc.cli import options, output
from atc.cli.errors import ExitCode
from atc.cli.junit import junit_xml
from atc.cli.output import print_result, say
from atc.core.text import count
from atc.settings.reading import load_config
from protocols.errors import AtcError
from protocols.private_files import write_whole

_LABELS = {"passed": "ok   ", "failed": "FAIL ", "error": "ERROR"}


@click.command("replay", cls=options.Verb, examples=["atc runs replay run.json"])
@click.argument("file")
@options.sandbox_option
def replay(file: str, *, sandbox: str | None) -> None:
    """Run an exported program again, offline.

    FILE ('-' reads stdin) is a recording of a run. The program's calls are answered from it, so
    nothing is sent anywhere and no key is needed. The program runs in the sandbox in which it ran
    first, if that is available here. Exit status: 0 it made the same calls and gave the same
    answer, 1 it did not, 2 FILE is no recording, 3 the sandbox is missing.
    """
    with Replayer(load_config({"sandbox": sandbox}).sandbox) as replayer:
        recording = parse_recording(output.read_text(file), where=file)
        document, sentence = _replay_one(recording, replayer)
    print_result(document, (document["same"] and recording.answer) or "")
    say(sentence)
    sys.exit(ExitCode.DONE if document["same"] else ExitCode.FAILED)


@click.command(
    "test",
    cls=options.Verb,
    examples=["atc runs test tests/runs/", "atc runs test tests/runs/ --junit report.xml"],
)
@click.argument("files", nargs=-1, required=True)
@options.sandbox_option
@click.option(
    "--junit",
    "report",
    type=options.FILE,
    metavar="FILE",
    help="Also write the results as JUnit XML, for CI. A file that is there is replaced.",
)
def test(files: tuple[str, ...], *, sandbox: str | None, report: Path | None) -> None:
    """Replay many recordings of runs, for example in CI.

    FILES are recordings, or folders with recordings. For each recording, one line says whether the
    program gave the same answer again. Neither keys nor a network are needed. Exit status: 0 all
    gave the same answer, 1 one did not or cannot be read, 2 there are no recordings.
    """
    output.require_new(report, force=True)
    found = list(dict.fromkeys(_find_recordings(files)))
    if not found:
        raise click.UsageError(
            "there is no recording in it; 'atc runs export RUN -o FILE' writes one"
        )
    documents: list[dict[str, Any]] = []
    began = time.time()
    with Replayer(load_config({"sandbox": sandbox}).sandbox) as replayer:
        for file in found:
            document, result = _test_one(file, replayer)
            documents.append(document)
            if not output.as_json():
                output.print_text(f"{_LABELS[document['state']]}  {file}  {result}")
    if report is not None:
        text = junit_xml(documents, began=began, seconds=time.time() - began)
        write_whole(report, text)
    print_result(documents, "")
    passed = sum(one["state"] == "passed" for one in documents)
    say(f"{passed} of {count(len(documents), 'recording')} gave the same answer.")
    sys.exit(ExitCode.DONE if passed == len(documents) else ExitCode.FAILED)


def _test_one(file: str, replayer: Replayer) -> tuple[dict[str, Any], str]:
    """Replay the recording in a file, and return the result as a JSON object and as a sentence."""
    try:
        recording = parse_recording(output.read_text(file), where=file)
        document, sentence = _replay_one(recording, replayer)
    except (AtcError, click.UsageError) as error:  # it is no recording, or cannot run
        return {"file": file, "problem": str(error), "state": "error"}, str(error)
    if document["same"]:
        return {"file": file, "problem": None, "state": "passed"} | document, sentence
    return {"file": file, "problem": sentence, "state": "failed"} | document, sentence


def _find_recordings(files: Sequence[str]) -> Iterator[str]:
    """Yield the paths in `files`; for a folder, yield all .json files below it instead.

    Raises:
        click.UsageError: A file or folder does not exist.
    """
    for file in files:
        path = Path(file)
        if path.is_dir():
            yield from map(str, sorted(path.rglob("*.json")))
        elif file == "-" or path.exists():
            yield file
        else:
            raise click.UsageError(f"there is no file or folder {file!r}")


def _replay_one(recording: Recording, replayer: Replayer) -> tuple[dict[str, Any], str]:
    """Replay a recording, and return the result as a JSON object and as a sentence."""
    verdict = replayer.rerun(recording)
    departure = verdict.departure
    document = {
        "run_id": recording.run,
        "same": departure is None,
        "answer": recording.answer,
        "call_count": len(recording.trace.calls),
        "sandbox": verdict.backend,
        "seconds": round(verdict.seconds, 3),
        "diverged": None,
    }
    if departure is not None:
        divergence = {
            "index": departure.index,
            "expected": departure.expected,
            "got": departure.got,
            "told": str(departure),
        }
        return document | {"diverged": divergence}, f"{str(departure).rstrip('.')}."
    end = "end" if recording.answer is None else "answer"
    calls = count(len(recording.trace.calls), "call")
    milliseconds = f"{verdict.seconds * 1000:.0f} ms"
    return document, f"the same {end} ({calls}, {milliseconds}, {verdict.backend})"
