"""Running a script that `atc runs export --python` wrote, with the safety checks of every run."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, NoReturn

import click

from atc.archive.recording import InvalidRecording, RecordedTools
from atc.archive.recording.script import MAY_BE_WITHHELD, WHERE, Script, parse_script
from atc.cli import options, output
from atc.cli.errors import ExitCode, explain_error
from atc.cli.flag_names import report_unknown_names
from atc.cli.main import end_process
from atc.cli.wiring import (
    drop_outdated_consent,
    invoke_settings,
    make_asker,
    open_questions,
    open_store,
    say_withheld,
)
from atc.core.config import Config
from atc.core.program import Program
from atc.core.quoting import quoted
from atc.core.tool_access import program_limits
from atc.core.types import Attempt
from atc.safety.consent import Consent
from atc.safety.held_calls import HeldCalls
from atc.settings.reading import Layer, load_config
from protocols.client import Invoker
from protocols.errors import AtcError
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import Pins, Trace

_SOURCE = "script"
"""The `source` of a script's tools. It marks text in their documents as not written by the user."""

_ALLOW_WRITES: dict[str, Any] = {
    "multiple": True,
    "is_flag": False,
    "flag_value": "all",
    "metavar": "[TOOL]",
    "help": "Also call this tool, which may change something; without a name, all. Repeatable.",
}


def run_script(text: str) -> NoReturn:
    """Run the program of an exported script with its tools, print its answer, and end the process.

    `text` is the JSON text in the script. The configured credentials and limits apply, as in a run.
    A person is asked wherever a run would ask, and always about a call that a person declined
    before. Without a terminal, a call that needs a person's consent is not sent, and the script
    ends.

    The exit code is one of `atc.cli.errors.ExitCode`.
    """
    command = click.Command(
        "script",
        params=[click.Option(["--allow-writes"], **_ALLOW_WRITES)],
        callback=lambda **flags: _start(text, flags),
        help="Run the exported program over its tools.",
    )
    options.trust_option(command)
    try:
        with command.make_context(sys.argv[0], sys.argv[1:]) as context:
            code = command.invoke(context)
    except click.exceptions.Exit as end:  # --help
        code = end.exit_code
    except (KeyboardInterrupt, click.Abort):
        output.begin_line()
        output.say(f"atc: {output.interrupted_text()}")
        # sys.exit would abort if a thread still reads the terminal.
        end_process(ExitCode.INTERRUPTED)
    except (AtcError, click.ClickException, OSError) as error:
        sentence, code = explain_error(error)
        output.say(f"atc: {' '.join(sentence.split())}")
    sys.exit(code)


def _start(text: str, flags: Mapping[str, Any]) -> int:
    """Run a script with this user's settings, print its answer, and return the exit code.

    Its tools get no rights that they did not have in the exported run.

    Raises:
        InvalidRecording: The text is not that of a script, or the program still contains a
            placeholder instead of a secret.
    """
    script = parse_script(text)
    withheld = Layer(WHERE, {key: False for key in MAY_BE_WITHHELD if key in script.withheld})
    config = load_config(flags, stored=withheld)
    if missing := script.remaining_placeholders:
        problem = f"{quoted(missing[0])} stands for a value that was left out"
        raise InvalidRecording(WHERE, f"{problem}; write the value in its place in RUN.")
    trace = _execute_script(script, config)
    if trace.failure is not None:
        failure = trace.failure
        where = "" if failure.kind == "paused" else f"line {failure.line}: {failure.type}: "
        output.say(f"{where}{failure.message}")
        return ExitCode.FAILED
    output.print_text(Attempt(Program(script.program), (), trace, None).answer or "")
    return ExitCode.DONE


def _execute_script(script: Script, config: Config) -> Trace:
    """Run the program of a script, and return the trace of its calls.

    Each call passes the same checks as in a run before it is sent: consent to the call, and the
    origin of its argument values.
    """
    sandbox = open_sandbox(config.sandbox, policy=config.policy)
    with (
        closing(sandbox),
        closing(Invoker(invoke_settings(config))) as invoker,
        open_store(config) as store,
        open_questions(config, store) as questions,
    ):
        tools = RecordedTools(script.tools).map(
            lambda tool: replace(
                tool, call=invoker.bind(tool.protocol), source=_SOURCE, told_by="document"
            )
        )
        report_unknown_names(tools)
        say_withheld(config)
        config = drop_outdated_consent(config, tools)
        effects = WriteRecovery(
            tools=tools, on_unknown=config.on_unknown, settle_seconds=config.settle_seconds
        )
        clock = time.time() if script.clock is None else script.clock
        journal = Journal(pins=Pins(clock=clock), write_recovery=effects)
        consent = Consent(
            script.task,
            tools,
            config,
            make_asker(),
            journal,
            held=HeldCalls(questions),
            given=script.arguments,
        )
        limits = program_limits(config)
        return sandbox.run(script.program, consent.toolbox, limits=limits, journal=journal)
