"""What a user can set, as one frozen value. `atc.layers` makes it of files, variables and flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from atc.mcp_settings import McpEntry
from protocols.errors import AtcError
from protocols.jsontypes import Json
from sandbox.effects import OnUnknown
from sandbox.names import AUTO

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
    lend_credentials: bool = True
    """Whether tools get the credentials and MCP servers below; those that an untrusted `atc.toml` names never do."""
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
    learn: bool = True
    """Whether tools without a response schema get one from what their calls bring, kept for later runs."""
    state_dir: Path = field(default_factory=lambda: _user_dir("state"))
    """Where runs are stored."""
    cache_dir: Path = field(default_factory=lambda: _user_dir("cache"))
    """Where models and built data are kept; can be deleted at any time."""
    credentials: Mapping[str, CredentialEntry] = field(default_factory=dict)
    """By the name that a tool's binding gives."""
    mcp: Mapping[str, McpEntry] = field(default_factory=dict)
    """MCP servers by the name that a tool's binding gives."""


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
