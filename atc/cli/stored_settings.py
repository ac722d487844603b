"""The settings for continuing a stored run, or for exporting it as a script.

Other users can write to a store in a shared database. So a run from there does not decide which
code runs on this machine, which services are reached, or what may be changed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from atc.archive.recording import Recording
from atc.archive.recording.script import MAY_BE_WITHHELD, to_script
from atc.cli.wiring import open_learned, open_toolbox
from atc.core.config import Config
from atc.core.quoting import quote_name
from atc.settings.reading import Layer, load_config
from atc.settings.untrusted import LIMITS, is_within_limit
from atc.store.stored import RunRefused, StoredRun
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from protocols.sources import absolute_source
from sandbox.choose import AUTO

_OF_THIS_MACHINE = frozenset(
    {
        "credentials", "mcp", "state_dir", "store", "cache_dir", "env_file", "limits",
        "source_limits",
    }
)  # fmt: skip
"""Settings of a stored run that are ignored here, because they describe the machine it ran on."""
_GIVEN_FOR_EACH_RUN = frozenset(
    {"allow_writes", "trust", "trust_annotations", "start_servers", "on_unknown"}
)
"""Permissions of a stored run that a run that follows it does not get."""
_HARMLESS = frozenset(
    {"strategy", "repair", "retrieval", "prompt_tokens", "temperature", "decoding", "docs"}
)
"""Settings that decide only how a task is solved. They are taken even from a shared store.

They do not decide which code runs, which services are reached, or what may be changed.
"""
_NAMED = ("tools", "model", "sandbox")
"""Settings that decide which code runs on this machine.

A run in a shared store continues only if this user's settings have the same values.
"""


def config_of(stored: StoredRun, flags: Mapping[str, Any] | None = None, *, shared: bool) -> Config:
    """Return the configuration for continuing a stored run: the run's settings, changed by `flags`.

    If other users can write to the store (`shared`), only those settings of the run are used that
    can do no harm.

    Raises:
        RunRefused: The store is shared, and the run uses tools, a model or a sandbox that are
            neither in this user's settings nor in `flags`.
    """
    known = {
        key: value
        for key, value in stored.summary.config.items()
        if key not in _OF_THIS_MACHINE and value not in (None, [])
    }
    changed = dict(flags or {})
    if shared:
        known = _take_from_shared(stored, known, changed, command="runs resume")
    for key in ("allow_writes", "trust"):  # what was allowed before stays allowed
        if changed.get(key):
            changed[key] = (*known.get(key, ()), *changed[key])
    return load_config(changed, stored=Layer(f"run {stored.summary.run_id}", known))


def config_after(stored: StoredRun, flags: Mapping[str, Any], *, shared: bool) -> Config:
    """Return the configuration for a run that follows a stored one.

    It has the settings of the stored run, changed by `flags`, but not the permissions: these are
    given for each run. If `flags` name tools, limits that apply to the tools of an untrusted file
    are not taken either. `shared` is that of `config_of`.

    Raises:
        RunRefused: See `config_of`.
    """
    left_out = _OF_THIS_MACHINE | _GIVEN_FOR_EACH_RUN
    if flags.get("tools"):
        left_out |= {"lend_credentials", "near_hosts"}
    known = {
        key: value
        for key, value in stored.summary.config.items()
        if key not in left_out and (value not in (None, []) or key == "tools")
    }
    if shared:
        known = _take_from_shared(stored, known, flags, command="run --after")
    return load_config(flags, stored=Layer(f"run {stored.summary.run_id}", known))


def _take_from_shared(
    stored: StoredRun, known: Mapping[str, Json], flags: Mapping[str, Any], *, command: str
) -> dict[str, Json]:
    """Return those settings of a run that may be used even if another user wrote them.

    `known` are all its settings, and `flags` those of the command line. `command` is the command
    that is running, without `atc`.

    Raises:
        RunRefused: See `_require_named`.
    """
    own = load_config(flags)
    _require_named(stored.summary.run_id, known, own, flags, command=command)
    return dict(_trusted_settings(known, own, flags))


def _require_named(
    run: str,
    known: Mapping[str, Json],
    own: Config,
    flags: Mapping[str, Any],
    *,
    command: str,
) -> None:
    """Check that this user's settings contain the tools, model and sandbox of a stored run.

    `known` are the settings of the run, `own` those of this user. A setting that `flags` replace is
    not checked. `command` is the command that the message names.

    Raises:
        RunRefused: One of them is not in this user's settings.
    """
    ours: dict[str, set[str | None]] = {
        "tools": {absolute_source(one) for one in own.tools},
        "model": {own.model},
        "sandbox": {own.sandbox, AUTO},
    }
    foreign: list[tuple[str, str]] = []
    for key in _NAMED:
        if key in known and not flags.get(key):
            values = known[key] if isinstance(known[key], list) else [known[key]]
            foreign += [(key, str(value)) for value in values if str(value) not in ours[key]]
    if foreign:
        named = ", ".join(f"{key} {one!r}" for key, one in foreign)
        options = " ".join(f"--{key} {shlex.quote(one)}" for key, one in foreign)
        raise RunRefused(
            f"run {run} cannot go on by itself: it stands in a database that others can write to,"
            f" and names what your settings do not: {named}. If that is what you want to run, say"
            f" so: atc {command} {run} {options}"
        )


def _trusted_settings(
    known: Mapping[str, Json], own: Config, flags: Mapping[str, Any]
) -> Iterator[tuple[str, Json]]:
    """Yield the settings of a stored run that may be used even if another user wrote them.

    A limit is used only if it is not above that of this user's settings `own`. A setting that
    protects the user is used only if it is on.
    """
    for key, value in known.items():
        if key in _HARMLESS or (key in LIMITS and is_within_limit(key, value, own)):
            yield key, value
    if "tools" in known and not flags.get("tools"):
        yield "tools", known["tools"]
    for key in ("lend_credentials", "near_hosts"):
        if known.get(key) is False:
            yield key, False
    if known.get("policy") is True:
        yield "policy", True


def script_of(recording: Recording, stored: StoredRun, *, shared: bool) -> str:
    """Return the recording of a stored run as the text of a Python script.

    The script's tools get no more rights than the run had. If other users can write to the store
    (`shared`), the tools are defined by the sources in this user's settings, not by the run.

    Raises:
        RunRefused: The store is shared, and this user's settings lack one of the tools.
        InvalidRecording: The run gave no answer, or a script cannot call one of its tools.
    """
    withheld = {key for key in MAY_BE_WITHHELD if stored.summary.config.get(key) is False}
    if shared:
        config = load_config()
        withheld |= {key for key in MAY_BE_WITHHELD if not getattr(config, key)}
        recording = replace(
            recording, tools=_own_tools(recording, stored.summary.identities, config)
        )
    return to_script(recording, withheld=sorted(withheld))


def _own_tools(
    recording: Recording, identities: Mapping[str, str], config: Config
) -> dict[str, ToolProtocol]:
    """Return the protocols of a run's tools as the sources in `config` define them.

    Both the result and `identities` are keyed by alias. `identities` has a digest for each tool of
    the run. A tool of `config` counts as the tool of the run only if it has the same digest.

    Raises:
        RunRefused: The sources in `config` do not define one of the tools.
    """
    known: dict[str, ToolProtocol] = {}
    if config.tools:
        learned = open_learned(config)
        with open_toolbox(config) as toolbox:
            informed = toolbox if learned is None else learned.apply_to(toolbox)
            known = {
                tool.identity: replace(tool.protocol, examples=()) for tool in informed.values()
            }
    if foreign := [alias for alias in recording.tools if identities.get(alias) not in known]:
        raise RunRefused(
            f"run {recording.run} stands in a database that others can write to, and none of the"
            f" tools that your settings name is its {quote_name(foreign[0])}: name its source in"
            " your settings, or with ATC_TOOLS=SOURCE, and export it again."
        )
    return {alias: known[identities[alias]] for alias in recording.tools}
