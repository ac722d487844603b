"""How layers of settings (defaults, files, variables, flags) merge into a `Config`. Reads no file, no environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from atc.config import TABLES, Config, CredentialEntry, InvalidConfig
from atc.mcp_settings import McpEntry, read_entry
from atc.setting_kinds import KINDS


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `origin` names the place, `label` how a key is written there."""

    origin: str
    values: Mapping[str, Any]
    label: Callable[[str], str] = str
    text: bool = False
    """Values are text that must be parsed (environment variables)."""


def merge(layers: Sequence[Layer]) -> tuple[Config, dict[str, str]]:
    """The configuration of `layers`, weakest first, and for each key where its value came from.

    Credentials and MCP servers merge by name, everything else by key.

    Raises:
        InvalidConfig: an unknown key, or a value that its key does not take.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys((f.name for f in fields(Config) if f.name not in TABLES), "default")
    credentials: dict[str, CredentialEntry] = {}
    mcp: dict[str, McpEntry] = {}
    for layer in layers:
        for key, raw in layer.values.items():
            if key == "credentials":
                for name, entry in _credentials(layer, raw).items():
                    credentials[name] = entry
                    origins[f"credentials.{name}"] = layer.origin
            elif key == "mcp":
                for name, server in _servers(layer, raw).items():
                    mcp[name] = server
                    origins[f"mcp.{name}"] = layer.origin
            else:
                values[key] = _value(layer, key, raw)
                origins[key] = layer.origin if layer.label is str else layer.label(key)
    return Config(**values, credentials=credentials, mcp=mcp), origins


def nearest_key(name: str, *, cutoff: float = 0.6) -> str | None:
    """The setting whose name is most like `name`, if any is."""
    found = get_close_matches(name, [*KINDS, *TABLES], n=1, cutoff=cutoff)
    return found[0] if found else None


def _value(layer: Layer, key: str, raw: Any) -> Any:
    kind = KINDS.get(key)
    if kind is None:
        raise InvalidConfig(_unknown(layer, key, [*KINDS, *TABLES]))
    try:
        return kind.read(kind.parse(raw) if layer.text else raw)
    except (ValueError, TypeError, KeyError):
        raise InvalidConfig(f"{layer.origin}: {layer.label(key)} must be {kind.wanted}, got {raw!r}.") from None


def _credentials(layer: Layer, raw: Any) -> dict[str, CredentialEntry]:
    if not isinstance(raw, Mapping):
        raise InvalidConfig(
            f"{layer.origin}: credentials must be tables such as [credentials.github], got a {type(raw).__name__}."
        )
    return {name: _credential(layer, name, entry) for name, entry in raw.items()}


def _credential(layer: Layer, name: str, raw: Any) -> CredentialEntry:
    """One entry. Messages never quote a value: it may be the secret."""
    where = f"{layer.origin}: credentials.{name}"
    if not isinstance(raw, Mapping):
        raise InvalidConfig(f"{where} must be a table with value and hosts, got a {type(raw).__name__}.")
    known = [f.name for f in fields(CredentialEntry)]
    for key in raw:
        if key not in known:
            raise InvalidConfig(_unknown(layer, key, known, within=f"credentials.{name}."))
    value, hosts, place = raw.get("value"), raw.get("hosts"), raw.get("place", "header")
    if not isinstance(value, str) or not value or "\n" in value:
        raise InvalidConfig(f"{where}.value must be 'env:NAME', 'file:PATH' or the secret itself, as one line of text.")
    if not (isinstance(hosts, list) and hosts and all(isinstance(h, str) and _is_host(h) for h in hosts)):
        raise InvalidConfig(
            f"{where}.hosts must list the hosts that may see it, such as ['api.example.org'], got {hosts!r}."
        )
    if place not in ("header", "query", "cookie"):
        raise InvalidConfig(f"{where}.place must be one of header, query, cookie, got {place!r}.")
    label = raw.get("name", "Authorization")
    prefix = raw.get("prefix", "Bearer " if str(label).lower() == "authorization" else "")
    if not (isinstance(label, str) and label and isinstance(prefix, str)):
        raise InvalidConfig(f"{where}.name and .prefix must be text.")
    return CredentialEntry(value=value, hosts=tuple(hosts), place=place, name=label, prefix=prefix)


def _servers(layer: Layer, raw: Any) -> dict[str, McpEntry]:
    if not isinstance(raw, Mapping):
        raise InvalidConfig(f"{layer.origin}: mcp must be tables such as [mcp.files], got a {type(raw).__name__}.")
    found = {}
    for name, entry in raw.items():
        try:
            found[name] = read_entry(entry)
        except (TypeError, ValueError) as error:
            raise InvalidConfig(f"{layer.origin}: mcp.{name}{error}") from None
    return found


def _is_host(text: str) -> bool:
    host, _, port = text.rpartition(":") if text.rpartition(":")[2].isdigit() else (text, "", "")
    return bool(host) and not set(host) & set("/@?#* \t") and "://" not in text and (not port or int(port) < 65536)


def _unknown(layer: Layer, key: str, known: Sequence[str], *, within: str = "") -> str:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f"did you mean {layer.label(near[0])!r}?" if near else f"known are {', '.join(known)}."
    return f"{layer.origin}: unknown setting {within + layer.label(key)!r}; {hint}"
