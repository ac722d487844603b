"""The settings that an `atc.toml` may decide before the user trusts it.

It may lower limits, and name tools that are described by data files. It may not run code or a
command, reach a host, use a secret, or consent to anything.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from atc.core.config import SETTINGS, Config
from atc.safety.settings_consent import KEYS
from atc.settings.files import PROJECT_FILE, SettingsFile, read_trusted, user_config_file
from protocols.secrets.sources import mask_source
from protocols.sources import is_local_data

_HARMLESS = frozenset({"tools", "docs", "decoding"})
"""Settings that an untrusted file may have. Its `tools` may name only data files in its folder."""
LIMITS = frozenset(
    {
        "max_tools",
        "samples",
        "max_repairs",
        "max_calls",
        "max_tokens",
        "max_model_calls",
        "max_seconds",
        "max_cost",
    }
)
"""Settings that an untrusted file may lower but not raise."""


def find_refused_settings(file: SettingsFile, below: Config) -> tuple[frozenset[str], str]:
    """Return the settings in an untrusted file that it may not decide, and a sentence about them.

    `below` is the configuration without the file; the file may lower its limits, but not raise
    them. Unknown settings are left out.
    """
    was_trusted = str(file.path) in read_trusted()
    changed = " It has changed since you trusted it." if was_trusted else ""
    if file.foreign:
        return frozenset(file.values), (
            f"{file.path} {file.foreign}, so nothing is taken from it. Read it, then"
            f" 'atc config trust', or remove it.{changed}"
        )
    parts = {key: _describe_refused_part(key, raw, below) for key, raw in file.values.items()}
    refused = {key: part for key, part in parts.items() if part}
    if not refused:
        return frozenset(), ""
    verb, them = ("is", "it") if len(refused) == 1 else ("are", "them")
    return frozenset(refused), (
        f"{PROJECT_FILE}: {', '.join(refused.values())} {verb} not taken from a folder's file,"
        f" which may be somebody else's. Give {them} yourself, as a flag or in"
        f" {user_config_file()}, or read {PROJECT_FILE} and trust it as it stands:"
        f" 'atc config trust'.{changed}"
    )


def _describe_refused_part(key: str, raw: Any, below: Config) -> str:
    """Return a phrase for the part of a setting that an untrusted file may not decide.

    An example is `'max_calls' above 500`. Error messages contain the phrase. It is empty if the
    file may give the setting `key` the value `raw`, or if the setting is unknown.
    """
    if key == "tools":
        sources = raw if isinstance(raw, list) else [raw]
        texts = [source for source in sources if isinstance(source, str)]
        beyond = [mask_source(source) for source in texts if not is_local_data(source)]
        if not beyond:
            return ""
        named = ", ".join(map(repr, beyond))
        return f"'tools' with {named} (code, a command, an address, or a place elsewhere)"
    if key in LIMITS:
        return "" if is_within_limit(key, raw, below) else f"{key!r} above {_limit(key, below):g}"
    if key == "limits" and isinstance(raw, dict):
        above = [name for name, one in raw.items() if not _is_within_call_limit(name, one, below)]
        return f"'limits' with a higher {', '.join(map(repr, above))}" if above else ""
    return repr(key) if key not in _HARMLESS and key in SETTINGS else ""


def _is_within_call_limit(name: str, raw: Any, below: Config) -> bool:
    """Return True if a setting under `[limits]` is not above that in the configuration `below`.

    Return True also for an unknown setting and for a value that is not a number; reading the
    settings reports them later.
    """
    limit: float | None = getattr(below.limits, name, None)
    with suppress(TypeError, ValueError):
        return limit is None or float(raw) <= limit
    return True


def is_within_limit(key: str, raw: Any, below: Config) -> bool:
    """Return True if the value `raw` of a limit is not above that in the configuration `below`.

    Return True also for a value that is not a number; reading the settings reports it later.
    """
    limit = _limit(key, below)
    with suppress(TypeError, ValueError):  # "99" is read as a number
        return limit is None or float(raw) <= limit
    return True


def _limit(key: str, below: Config) -> float | None:
    """Return the value of a limit in the configuration `below`, or None if it is unlimited.

    The default of the setting `samples` is None, which counts as the limit 1.
    """
    limit: float | None = getattr(below, key)
    return 1 if limit is None and key == "samples" else limit


def restrict_tools(
    config: Config, origins: dict[str, str], origin: str, *, consent_from: str = ""
) -> Config:
    """Return the configuration, restricted because an untrusted file names the tools.

    The tools get no credentials, and cannot reach this machine or its networks. Consent and trust
    are dropped, because the tools may have taken the names of tools that the user trusts. They are
    kept if they come from the command line, or from the origin `consent_from`.

    `origins` says where each setting comes from. For the changed settings, it is set to `origin`.
    """
    changes: dict[str, Any] = {"lend_credentials": False, "near_hosts": False}
    for key in KEYS:
        if not origins[key].startswith("--") and origins[key] != consent_from:
            changes[key] = ()
    origins |= dict.fromkeys(changes, origin)
    return replace(config, **changes)
