"""Checks before a stored run is continued: who works on it, and who may allow its calls."""

from __future__ import annotations

from collections.abc import Sequence

from atc.cli import output
from atc.cli.output import has_person
from atc.core.config import Config
from atc.store.lease import LEASE_SECONDS
from atc.store.stored import RunRefused, StoredRun


def report_unknown_lease(stored: StoredRun) -> None:
    """Tell the user if this machine cannot find out whether another process still works on a run.

    The run is then continued only if that process sends no heartbeat for some seconds.
    """
    lease = stored.summary.lease
    if lease is None or stored.summary.status not in ("running", "interrupted"):
        return
    if lease.holder.life() == "unknown":
        wait = f"waiting up to {LEASE_SECONDS:g} seconds for a sign of life"
        output.say(
            f"run {stored.summary.run_id} was being worked on by {lease.holder}, which cannot be"
            f" looked up from here: {wait}."
        )


def list_newly_allowed(stored: StoredRun, config: Config) -> list[str]:
    """Return the permissions that the run did not have when it began, as command-line options.

    An example is `--allow-writes close_ticket`. `config` contains the present permissions.
    """
    known = {
        key: map(str, stored.summary.config.get(key) or ()) for key in ("allow_writes", "trust")
    }
    new = {key: set(getattr(config, key)).difference(before) for key, before in known.items()}
    believed = config.trust_annotations and not stored.summary.config.get("trust_annotations")
    named = [
        f"--{key.replace('_', '-')} {one}" for key, names in new.items() for one in sorted(names)
    ]
    return [*named, *(["--trust-annotations"] if believed else [])]


def require_person(stored: StoredRun, options: Sequence[str]) -> None:
    """Check that a person is at the terminal if another agent wrote the run's programs.

    This applies only if `options` give the run new permissions. Without this check, the other agent
    could execute the command and so give the permissions itself.

    Raises:
        RunRefused: There is no terminal.
    """
    if stored.summary.gateway and options and not has_person():
        run = stored.summary.run_id
        raise RunRefused(
            f"run {run} is that of another agent, a client of 'atc serve', and {options[0]!r} is a"
            f" person's to decide: run this on a terminal: atc runs resume {run}"
        )
