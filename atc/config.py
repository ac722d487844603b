"""What a user can set, as one frozen value; how layers of settings merge into it. Reads no file and no environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from atc.mcp_settings import McpEntry, read_entry
from atc.strategies import STRATEGIES, UnknownStrategy
from atc.strategies import read as read_strategy
from protocols.errors import AtcError
from protocols.jsontypes import Json
from sandbox.effects import OnUnknown
from sandbox.names import AUTO, NAMES, named

Place = Literal["header", "query", "cookie"]
TABLES = ("credentials", "mcp")
"""Settings that are tables by name, and so neither flags nor variables."""


class InvalidConfig(AtcError):
    """A setting that cannot be used: names the file (or flag, or variable), the key, what was found and wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialEntry:
    """A secret that tools may name, and the only hosts it is sent to."""

    value: str = field(repr=False)
    """`env:NAME`, `file:PATH` (its first line) or the secret itself."""
    hosts: tuple[str, ...]
    """`api.example.org` or `localhost:8080`; the secret goes nowhere else."""
    place: Place = "header"
    """Where in a request it goes."""
    name: str = "Authorization"
    """The header's, parameter's or cookie's name."""
    prefix: str = "Bearer "
    """Stands before the secret in a header. A file that sets another `name` sets this too, else it is empty."""

    @property
    def shown(self) -> str:
        """Where the secret comes from, or `***` for one that stands in the file itself."""
        return self.value if self.value.startswith(("env:", "file:")) else "***"


def _user_dir(kind: str) -> Path:
    import platformdirs

    folder: Path = getattr(platformdirs, f"user_{kind}_path")("atc", appauthor=False)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting, with its default."""

    model: str | None = None
    """A model's name, or `local`; None: OPENAI_BASE_URL or OPENAI_API_KEY where set, else the embedded model."""
    tools: tuple[str, ...] = ()
    """Protocol folders, OpenAPI files or addresses, Python modules, HAR recordings, MCP servers; none: the built-in
    flights service."""
    start_servers: bool = False
    """Whether the command of an MCP server that `tools` spells is started without asking."""
    trust_annotations: bool = False
    """Whether every MCP server is believed that says of a tool that it only reads."""
    strategy: str = "auto"
    """How a task is solved: the name of a strategy, and its flags: `anytool:solver=cot,pool=16`."""
    repair: Literal["facts", "reflection", "traceback", "none"] = "facts"
    """What the model is told of a failure: what the facts say, the paper's reflection, a traceback; or no repair."""
    retrieval: str = AUTO
    """How tools are found where not all of them fit the prompt: a method of `atc tools search --method`."""
    embedder: str = "minilm+paraphrase"
    """What turns tools and queries into vectors: two small models side by side, another of `atc models list` (`minilm`
    is a third of the size), or `openai:NAME`."""
    index: Path | None = None
    """Folder that keeps what search needs of the tools; None: one in the cache, by their sources."""
    sandbox: str = AUTO
    """What runs the program: the best that there is, or names of backends, tried in that order."""
    policy: bool = False
    """Whether each program is reviewed before it runs: what only attacks need is refused with a reason."""
    max_tools: int = 8
    """Tools in one prompt, where not all of them fit."""
    prompt_tokens: int | None = None
    """Tokens that descriptions of tools may take in a prompt; None: what suits the model."""
    samples: int = 4
    """Programs sampled before the check's findings are given back to the model."""
    votes: int = 1
    """Samples of a reading task that must give the same answer before it stands; 1: the first answer stands."""
    max_repairs: int = 3
    """Programs written after the first one failed."""
    max_calls: int = 500
    """Tool calls of one execution."""
    max_tokens: int | None = None
    """Model tokens of one run, in and out; None: no cap."""
    max_model_calls: int | None = None
    """Requests to the model in one run; None: no cap."""
    max_seconds: float | None = None
    """Wall time of one run; None: no cap."""
    allow_writes: tuple[str, ...] = ()
    """Tools that may change something without being asked about; `all` stands for every tool."""
    on_unknown: OnUnknown = "stop"
    """What to do with a write of which nothing tells whether it took effect: pause, send it again where its protocol
    says that repeating changes nothing more, or go on without it."""
    settle_seconds: float = 10.0
    """How long a write whose answer was lost is given to show up in the read that verifies it."""
    trust: tuple[str, ...] = ()
    """Where values of sensitive arguments may come from: `tool`, `tool:path` or `value=…`."""
    temperature: float = 0.7
    """Of samples after the first, which is greedy."""
    decoding: Literal["off", "calls", "program", "auto"] = "auto"
    """What a model is held to while it writes: nothing, calls that conform, programs in which only tools, arguments,
    variables and response keys stand that there are; or, by `auto`, such a program where the check stopped one."""
    docs: Literal["full", "requests", "names"] = "full"
    """What a prompt tells of tools: a stub each, stubs that do not say what responses hold, or names alone, where
    decoding knows the rest."""
    state_dir: Path = field(default_factory=lambda: _user_dir("state"))
    """Where runs are stored."""
    cache_dir: Path = field(default_factory=lambda: _user_dir("cache"))
    """Where models and built data are kept; can be deleted at any time."""
    credentials: Mapping[str, CredentialEntry] = field(default_factory=dict)
    """By the name that a tool's binding gives."""
    mcp: Mapping[str, McpEntry] = field(default_factory=dict)
    """MCP servers by the name that a tool's binding gives."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `origin` names the place, `label` how a key is written there."""

    origin: str
    values: Mapping[str, Any]
    label: Callable[[str], str] = str
    text: bool = False
    """Values are text that must be parsed (environment variables)."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a key takes: `read` gives the value or raises ValueError, `parse` makes a raw value of text."""

    wanted: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any] = str


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
    found = get_close_matches(name, [*_KINDS, *TABLES], n=1, cutoff=cutoff)
    return found[0] if found else None


def public(config: Config) -> dict[str, Json]:
    """The configuration as plain JSON, with no secret in it."""
    shown: dict[str, Json] = {f.name: getattr(config, f.name) for f in fields(config) if f.name not in TABLES}
    for key, value in shown.items():
        if isinstance(value, tuple):
            shown[key] = list(value)
        elif isinstance(value, Path):
            shown[key] = str(value)
    shown["credentials"] = {
        name: {
            "value": entry.shown,
            "hosts": list(entry.hosts),
            "place": entry.place,
            "name": entry.name,
            "prefix": entry.prefix,
        }
        for name, entry in config.credentials.items()
    }
    shown["mcp"] = {name: server.shown for name, server in config.mcp.items()}
    return shown


def _value(layer: Layer, key: str, raw: Any) -> Any:
    kind = _KINDS.get(key)
    if kind is None:
        raise InvalidConfig(_unknown(layer, key, [*_KINDS, *TABLES]))
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


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError(raw)
    return raw


def _names(raw: Any) -> tuple[str, ...]:
    return (_text(raw),) if isinstance(raw, str) else tuple(_text(item) for item in list(raw))


def _one_of(*options: str) -> _Kind:
    def read(raw: Any) -> str:
        if raw not in options:
            raise ValueError(raw)
        return str(raw)

    return _Kind(f"one of {', '.join(options)}", read)


def _sandbox(raw: Any) -> str:
    return _text(raw) if raw == AUTO else ",".join(named(_text(raw)))


def _yes_or_no(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise TypeError(raw)
    return raw


def _yes_or_no_of(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.strip().lower()]


def _whole(minimum: int) -> _Kind:
    def read(raw: Any) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or raw < minimum:
            raise ValueError(raw)
        return raw

    return _Kind(f"a whole number of at least {minimum}", read, int)


def _number(wanted: str, accept: Callable[[float], bool]) -> _Kind:
    def read(raw: Any) -> float:
        if not isinstance(raw, int | float) or isinstance(raw, bool) or not accept(raw):
            raise ValueError(raw)
        return float(raw)

    return _Kind(wanted, read, float)


def _method(raw: Any) -> str:
    from atc.retrieve.methods import UnknownMethod, read

    spec = _text(raw)
    try:
        if spec != AUTO:
            read(spec)
    except UnknownMethod as error:
        raise ValueError(raw) from error
    return spec


def _strategy(raw: Any) -> str:
    spec = _text(raw)
    try:
        read_strategy(spec)
    except UnknownStrategy as error:
        raise ValueError(raw) from error
    return spec


def _folder(raw: Any) -> Path:
    path = Path(_text(raw) if not isinstance(raw, Path) else raw).expanduser()
    return path.absolute()


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


_KINDS: Mapping[str, _Kind] = {
    "model": _Kind("a model's name", _text),
    "tools": _Kind("a list of tool sources", _names, _split),
    "start_servers": _Kind("true or false", _yes_or_no, _yes_or_no_of),
    "trust_annotations": _Kind("true or false", _yes_or_no, _yes_or_no_of),
    "strategy": _Kind(f"{', '.join(STRATEGIES)}, with flags that it has (docs/strategies.md)", _strategy),
    "repair": _one_of("facts", "reflection", "traceback", "none"),
    "retrieval": _Kind(f"{AUTO}, or a method of 'atc tools search'", _method),
    "embedder": _Kind("an embedding model's name", _text),
    "index": _Kind("a folder", _folder),
    "sandbox": _Kind(f"{AUTO}, or some of {', '.join(NAMES)} with commas between them", _sandbox),
    "policy": _Kind("true or false", _yes_or_no, _yes_or_no_of),
    "max_tools": _whole(1),
    "prompt_tokens": _whole(200),
    "samples": _whole(1),
    "votes": _whole(1),
    "max_repairs": _whole(0),
    "max_calls": _whole(0),
    "max_tokens": _whole(1),
    "max_model_calls": _whole(1),
    "max_seconds": _number("a number of seconds above 0", lambda n: 0 < n < float("inf")),
    "allow_writes": _Kind("a list of tool names, or 'all'", _names, _split),
    "on_unknown": _one_of("stop", "retry-idempotent", "skip"),
    "settle_seconds": _number("a number of seconds from 0 on", lambda n: 0 <= n < float("inf")),
    "trust": _Kind("a list of rules: tool, tool:path or value=…", _names, _split),
    "temperature": _number("a number from 0 to 2", lambda n: 0 <= n <= 2),
    "decoding": _one_of("off", "calls", "program", "auto"),
    "docs": _one_of("full", "requests", "names"),
    "state_dir": _Kind("a folder", _folder),
    "cache_dir": _Kind("a folder", _folder),
}
