"""Runs as files: `atc runs export` writes them, `replay` and `test` run them again; `save` makes tools of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from atc.cli.options import FILE, force_option, json_option, output_option
from atc.cli.output import has_person, json_text, print_json, print_or_say, print_text, read_text, require_new, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_store, saved_folder
from atc.recording import Replayer, Verdict, record, without_secrets
from atc.recording.document import parse, to_document
from atc.recording.script import to_script
from atc.saved import Savable
from atc.terminal import count, escape_controls
from protocols.errors import AtcError
from protocols.files import write_whole
from protocols.jsontypes import Json
from protocols.protocol import dump
from sandbox.choose import open_sandbox

_SAVE_EPILOG = """\b
Examples:
  atc runs save last --as-tool busiest_day
  atc runs save last --as-tool busiest_day --parameter origin=JFK --parameter year=2013
"""
_WORDS = {"passed": "ok   ", "failed": "FAIL ", "error": "ERROR"}
_sandbox_option = click.option(
    "--sandbox", metavar="NAME", help="What runs the program; by default what ran it first, if it is here."
)


@click.command("export", epilog="Example: atc runs export last -o run.json")
@click.argument("run")
@output_option
@click.option("--python", "as_script", is_flag=True, help="The solved program as a script of its own.")
@click.option("--html", "as_page", is_flag=True, help="The page that 'atc runs view' shows, as one file.")
@force_option
@json_option
def export(run: str, *, path: Path | None, as_script: bool, as_page: bool, force: bool, as_json: bool) -> None:
    """Write a run as a file that replays, or as a script.

    In it stand the program of RUN, what its calls were answered, and how it ended. RUN is an id, the beginning or the
    end of one, or 'last'. Credentials are never in it; sensitive values of arguments and results stand as placeholders.
    All else that the tools answered does stand in it, so the file is readable for you alone. With --html (extra 'view')
    it is a page for people, which replays nothing.
    """
    require_new(path, force=force)
    if as_page and as_script:
        raise click.UsageError("give one of --python and --html")
    with open_store(load_config()[0]) as store:
        stored = store.load(run)
    hidden: tuple[str, ...] = ()
    if as_page:
        from atc.serve.view.run_page import page  # needs the extra `view`

        text, use = page(without_secrets(stored)), "open it in a browser"
    else:
        recording = record(stored)
        hidden = recording.secrets
        if as_script:
            given = [source.rpartition("=")[2] for source in stored.config.get("tools", ())]
            modules = {Path(source).stem: source for source in given if source.endswith(".py")}
            text, use = to_script(recording, modules=modules), f"run it with: python {path}"
        else:
            text, use = json_text(to_document(recording), indent=1) + "\n", f"replay it with: atc runs replay {path}"
    if path is not None:
        write_whole(path, text, mode=0o700 if as_script else 0o600)
        document = {"run": stored.summary.id, "file": str(path), "redacted": list(hidden)}
        print_or_say(document, f"run {stored.summary.id} written to {path}; {use}", as_json=as_json)
    elif as_json and (as_page or as_script):
        print_json(text)
    else:
        click.echo(text, nl=False)
    if hidden:
        say(f"{count(len(hidden), 'sensitive value')} in it: replaced by placeholders such as {hidden[0]}.")


@click.command("save", epilog=_SAVE_EPILOG)
@click.argument("run")
@click.option("--as-tool", "name", required=True, metavar="NAME", help="What programs call it.")
@click.option("--parameter", "given", multiple=True, metavar="NAME=LITERAL", help="A literal to be given. Repeatable.")
@force_option
@json_option
def save(run: str, *, name: str, given: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Make a solved program a tool that others can call.

    The program of RUN becomes a function of those of its literals that you choose. RUN is a solved run: its id, the
    beginning or the end of it, or 'last'. On a terminal each literal is asked about. The tool is checked, and run once
    on the run's own calls, so that nothing is called. 'atc run', 'atc check' and 'atc serve' offer it wherever the
    tools that it calls are among their own.
    """
    config = load_config()[0]
    file = saved_folder(config) / f"{name}.json"
    require_new(file, force=force)
    with open_store(config) as store:
        savable = Savable(store.load(run))
    parameters = _asked(savable) if not given and has_person() else _named(savable, given)
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as opened:
        protocol = savable.tool(name, parameters, "", opened)
    write_whole(file, json_text(dump(protocol), indent=1) + "\n", mode=0o600)
    told = f"{name}({', '.join(parameters)}) written to {file}; deleting the file forgets it."
    print_or_say({"tool": name, "file": str(file), "protocol": dump(protocol)}, told, as_json=as_json)


def _named(savable: Savable, given: tuple[str, ...]) -> dict[str, Json]:
    parameters: dict[str, Json] = {}
    for text in given:
        name, equals, literal = text.partition("=")
        if not name or not equals or name in parameters:
            raise click.UsageError(f"--parameter {text!r}: give each once, as NAME=LITERAL, such as origin=JFK")
        parameters[name] = savable.literal(literal)
    return parameters


def _asked(savable: Savable) -> dict[str, Json]:
    """The parameters that a person names."""
    parameters: dict[str, Json] = {}
    for shown, value in savable.literals.items():
        question = f"Is {shown} a parameter? Its name, or Enter if it stays"
        while name := click.prompt(question, default="", show_default=False, err=True):
            if parameters.setdefault(name, value) is value:
                break
            click.echo(f"Another is called {name!r}.", err=True)
    return parameters


@click.command(epilog="Example: atc runs replay run.json")
@click.argument("file")
@_sandbox_option
@json_option
def replay(file: str, *, sandbox: str | None, as_json: bool) -> None:
    """Run an exported program again, offline.

    Its calls are answered from FILE ('-' reads stdin). Nothing is sent anywhere and no key is needed. Exit status: 0 it
    made the same calls and gave the same answer, 1 it did not, 2 FILE is no recording, 3 the sandbox is missing.
    """
    with Replayer(load_config({"sandbox": sandbox})[0].sandbox) as replayer:
        verdict = replayer.rerun(parse(read_text(file), where=file))
    if as_json:
        print_json(_document(verdict))
    elif verdict.same and verdict.recording.answer is not None:
        print_text(verdict.recording.answer)
    say(_line(verdict))
    sys.exit(0 if verdict.same else 1)


@click.command(epilog="Example: atc runs test tests/runs/ --junit report.xml")
@click.argument("files", nargs=-1, required=True)
@_sandbox_option
@click.option("--junit", "report", type=FILE, metavar="OUT.xml", help="Also write a JUnit report.")
@json_option
def test(files: tuple[str, ...], *, sandbox: str | None, report: Path | None, as_json: bool) -> None:
    """Replay many files, for CI.

    FILES are recordings, or folders that hold some; of each is said whether it gave the same answer. Needs neither keys
    nor network. Exit status: 0 all did, 1 one did not or cannot be read, 2 there is none.
    """
    found = list(dict.fromkeys(_recordings(files)))
    if not found:
        raise click.UsageError("there is no recording in it; 'atc runs export RUN -o FILE' writes one")
    documents: list[dict[str, Any]] = []
    with Replayer(load_config({"sandbox": sandbox})[0].sandbox) as replayer:
        for file in found:
            try:
                verdict = replayer.rerun(parse(read_text(file), where=file))
                document, told = {"state": "passed" if verdict.same else "failed"} | _document(verdict), _line(verdict)
            except (AtcError, click.UsageError) as error:  # it is no recording, or cannot run
                document, told = {"state": "error"}, str(error)
            problem = None if document["state"] == "passed" else told
            documents.append({"file": file, "problem": problem} | document)
            if not as_json:
                print_text(f"{_WORDS[document['state']]}  {file}  {told}")
    if report is not None:
        write_whole(report, _junit(documents))
    if as_json:
        print_json(documents)
    passed = sum(one["state"] == "passed" for one in documents)
    say(f"{passed} of {count(len(documents), 'recording')} gave the same answer.")
    sys.exit(0 if passed == len(documents) else 1)


def _junit(documents: Sequence[dict[str, Any]]) -> str:
    """What came of the files as a JUnit report, which CI services read."""
    states = [one["state"] for one in documents]
    figures = {"tests": len(states), "failures": states.count("failed"), "errors": states.count("error")}
    suite = ElementTree.Element("testsuite", {"name": "atc runs test", **{key: str(n) for key, n in figures.items()}})
    for one in documents:
        file, seconds = Path(one["file"]), str(one.get("seconds", 0))
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": ".".join(file.parent.parts), "name": file.name, "time": seconds}
        )
        if one["problem"] is not None:
            kind = "failure" if one["state"] == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": escape_controls(one["problem"])})
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _recordings(files: Sequence[str]) -> Iterator[str]:
    """Files as they were given; of a folder, all recordings below it, also those that were cut off."""
    for file in files:
        if not Path(file).is_dir():
            yield file
            continue
        for path in sorted(Path(file).rglob("*.json")):
            with suppress(OSError):
                if path.is_file() and b'"atc recording ' in path.read_bytes():
                    yield str(path)


def _line(verdict: Verdict) -> str:
    """What came of it, in a sentence."""
    recording = verdict.recording
    edited = " The file was edited after it was recorded." if recording.edited else ""
    if verdict.departure is not None:
        return f"{str(verdict.departure).rstrip('.')}.{edited}"
    end = "end" if recording.answer is None else "answer"
    took = f"{count(len(recording.trace.calls), 'call')}, {verdict.seconds * 1000:.0f} ms, {verdict.backend}"
    return f"the same {end} ({took}){edited and '.'}{edited}"


def _document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON."""
    recording, departure = verdict.recording, verdict.departure
    return {
        "run": recording.run,
        "same": verdict.same,
        "answer": recording.answer,
        "calls": len(recording.trace.calls),
        "sandbox": verdict.backend,
        "seconds": round(verdict.seconds, 3),
        "diverged": departure
        and {"index": departure.index, "expected": departure.expected, "got": departure.got, "told": str(departure)},
    }
