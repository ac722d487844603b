"""All settings, as one frozen value. `atc.cli.settings` builds it from files, variables and flags.

Each setting is one field here: its type, which pydantic checks, its default and its docstring. A
secret is kept as the name of a variable or file until a tool needs it, and is read here too.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
import pydantic.dataclasses
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ArgsKwargs, ErrorDetails, PydanticCustomError

from atc.core.specs import demand, unknown_name
from protocols.errors import AtcError
from protocols.naming import closest_spellings
from protocols.schema import Json
from protocols.secrets.sources import mask_source
from protocols.settings import Credential, McpServer
from sandbox.choose import AUTO, NAMES
from sandbox.lost_writes import OnUnknown

_CLOSED = ConfigDict(extra="forbid", defer_build=True)
STRATEGIES = (
    "auto", "chain", "stepwise", "react", "react@3", "dfsdt", "dfsdt@3", "codeact", "restgpt", "conagents", "anytool",
)  # fmt: skip
"""Names of strategies. `atc.strategies.registry` says what each is."""
METHODS = (
    "bm25", "dense", "hybrid", "blend", "d2q", "reinvoke-split", "reinvoke", "hyde", "hyde-prf", "q2e", "q2e-prf",
    "q2d", "q2d-prf", "planned", "toolqp", "listwise", "anytool",
)  # fmt: skip
"""Names of methods of search. `atc.pipeline.retrieve.methods` says what each is."""
_CHOICES = {
    "strategy": ("strategy", STRATEGIES),
    "retrieval": ("method of search", (AUTO, *METHODS)),
}
"""Settings whose value begins with a name: what it names, and the known names. Flags may follow the
name.
"""


class InvalidConfig(AtcError):
    """A setting that cannot be used. The message names the file, flag or variable, the key, and
    what was found and wanted.
    """


def without_password(address: str) -> str:
    """Return a database's address without its password, so that it can be shown.

    If the address is ambiguous, more than the password is left out.
    """
    shown = re.sub(r"://([^:/@]*):.*@", r"://\1:***@", address)
    return re.sub(r"(password=)[^&\s]*", r"\1***", shown)


def _host(text: str) -> str:
    host, _, port = text.rpartition(":") if text.rpartition(":")[2].isdigit() else (text, "", "")
    if not host or set(host) & set("/@?#* \t") or "://" in text or (port and int(port) >= 65536):
        raise PydanticCustomError(
            "setting", "must be a host, such as 'api.example.org' or 'localhost:8080'"
        )
    return text


def _without_secret(value: str) -> str:
    """Return where a secret comes from, or `***` if it is written in the settings file itself."""
    return value if not value or value.startswith(("env:", "file:")) else "***"


def _shown_sources(sources: Sequence[str]) -> list[str]:
    """Return the sources without the secrets in their addresses."""
    return [*map(mask_source, sources)]


def _shown_words(command: Sequence[str]) -> list[str]:
    """Return the words of a command without the secrets among them."""
    return shlex.split(mask_source(f"mcp:{shlex.join(command)}").removeprefix("mcp:"))


def _resolve_model_path(model: str) -> str:
    """Return the name of a model, or the absolute path of a model file, so that a run can be
    continued in any folder.
    """
    return re.sub(
        r"^(scripted:|(?=.*\.gguf$))(.+)",
        lambda at: f"{at[1]}{Path(at[2]).expanduser().absolute()}",
        model,
    )


def _of_form(pattern: str, told: str) -> AfterValidator:
    """Return a pydantic type of texts in which `pattern` is found. `told` is the message about any
    other text.
    """

    def check_form(text: str) -> str:
        if re.search(pattern, text) is None:
            raise PydanticCustomError("setting", "must be {told}", {"told": told})
        return text

    return AfterValidator(check_form)


Text = Annotated[str, _of_form(r"\S", "a text that is not empty")]
Names = Annotated[
    tuple[Text, ...], BeforeValidator(lambda raw: (raw,) if isinstance(raw, str) else raw)
]
Words = Annotated[
    tuple[Text, ...], BeforeValidator(lambda raw: shlex.split(raw) if isinstance(raw, str) else raw)
]
Secret = Annotated[str, PlainSerializer(_without_secret)]
AtLeastOne = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
PriceSetting = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Prices = Annotated[
    tuple[PriceSetting, PriceSetting],
    BeforeValidator(lambda raw: raw.split(",") if isinstance(raw, str) else raw),
]
AboveZero = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
Model = Annotated[Text, AfterValidator(_resolve_model_path)]
Address = Annotated[
    str,
    _of_form("^postgres(ql)?://", "an address such as postgresql://USER@HOST/NAME"),
    PlainSerializer(without_password),
]
Backend = Annotated[
    str, _of_form(f"^({'|'.join((AUTO, *NAMES))})$", f"one of {AUTO}, {', '.join(NAMES)}")
]


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=_CLOSED)
class CredentialEntry(Credential):
    """A secret that tools may use, and the hosts that it may be sent to. The tools' document says
    how it is sent.
    """

    value: Annotated[Secret, _of_form(r"^[^\n]*\Z", "one line of text")] = Field("", repr=False)
    """`env:NAME`, `file:PATH` (its first line) or the secret itself: a key, a token,
    `user:password`.
    """
    hosts: tuple[Annotated[str, AfterValidator(_host)], ...] = Field(min_length=1)
    """Hosts such as `api.example.org` or `localhost:8080`. The secret is sent to no other."""
    client_secret: Secret = Field("", repr=False)
    scopes: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.value or self.client_id):
            raise PydanticCustomError("setting", "needs a value, or a client_id")
        return self


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=_CLOSED)
class McpEntry(McpServer):
    """An MCP server that the user has configured. Its command is started without asking."""

    command: Annotated[Words, PlainSerializer(_shown_words)] = ()
    """The words of the command, or one line as for a shell. Either this or `url` is set."""
    url: Annotated[str, PlainSerializer(mask_source)] = ""
    env: Mapping[Text, Secret] = Field(default_factory=dict, repr=False)
    """Variables of the command: `env:NAME`, `file:PATH` or the text itself. The command inherits
    only HOME, LOGNAME, PATH, SHELL, TERM and USER.
    """

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise PydanticCustomError("setting", "needs either a command or a url")
        return self


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=_CLOSED)
class Config:
    """All settings with their defaults.

    Raises:
        InvalidConfig: There is no such setting, or it does not take this value.
    """

    model: Model | None = None
    """A model's name, or `local`; None: OPENAI_BASE_URL or OPENAI_API_KEY where set, else the
    embedded model.
    """
    model_timeout: AboveZero = 120.0
    """Seconds that an endpoint has for one reply."""
    model_retries: NotNegative = 4
    """Times that a request to an endpoint is repeated after a failure that may pass."""
    tools: Annotated[Names, PlainSerializer(_shown_sources)] = ()
    """Protocol folders, OpenAPI files or addresses, Python modules, HAR recordings, MCP servers;
    none: the built-in flights service.
    """
    start_servers: bool = False
    """Whether the command of an MCP server that `tools` spells is started without asking."""
    trust_annotations: bool = False
    """Whether every MCP server is believed that says of a tool that it only reads."""
    lend_credentials: bool = True
    """Whether tools get the credentials and MCP servers below; those that an untrusted `atc.toml`
    names never do.
    """
    near_hosts: bool = True
    """Whether tools may call services of this machine and of its own networks; those that an
    untrusted `atc.toml` names never do.
    """
    strategy: Text = "auto"
    """How a task is solved: the name of a strategy, and its flags: `anytool:solver=cot,pool=16`."""
    repair: Literal["facts", "reflection", "traceback", "none"] = "facts"
    """What the model is told of a failure: what the facts say, the paper's reflection, a traceback;
    or no repair.
    """
    retrieval: Text = AUTO
    """How tools are found where not all of them fit the prompt: a method of `atc tools search
    --method`.
    """
    embedder: Text = "minilm+paraphrase"
    """What turns tools and queries into vectors: two small models side by side, another of `atc
    models list` (`minilm` is a third of the size), or `openai:NAME`.
    """
    index: Folder | None = None
    """Folder that keeps what search needs of the tools; None: one in the cache, by their sources.
    """
    sandbox: Backend = AUTO
    """What runs the program: the best that there is, or a backend by its name."""
    policy: bool = False
    """Whether each program is reviewed before it runs: what only attacks need is refused with a
    reason.
    """
    max_tools: AtLeastOne = 40
    """Tools in one prompt, where not all of them fit."""
    prompt_tokens: Annotated[int, Field(ge=200)] | None = None
    """Tokens that descriptions of tools may take in a prompt; None: what suits the model."""
    samples: AtLeastOne | None = None
    """Replies drawn to one prompt until one is a program that was not tried; None: what suits the
    model, 4 for the embedded one, else 1.
    """
    max_repairs: NotNegative = 3
    """Programs written after the first one failed."""
    max_calls: NotNegative = 500
    """Tool calls of one execution."""
    max_tokens: AtLeastOne | None = None
    """Model tokens of one run, in and out; None: no cap."""
    max_model_calls: AtLeastOne | None = None
    """Requests to the model in one run; None: no cap."""
    max_seconds: AboveZero | None = None
    """Wall time of one run; None: no cap."""
    max_cost: AboveZero | None = None
    """USD that the model of one run may cost, by `model_price`; None: no cap."""
    model_price: Prices | None = None
    """USD for a million tokens of prompts, and of replies; None: the list price
    (`atc/models/prices.py`).
    """
    allow_writes: Names = ()
    """Tools that may change something without being asked about; `all` stands for every tool."""
    on_unknown: OnUnknown = "stop"
    """What to do with a write of which nothing tells whether it took effect: pause, or go on
    without it.
    """
    settle_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    """How long a write whose answer was lost is given to show up in the read that verifies it."""
    trust: Names = ()
    """Where values of sensitive arguments may come from: `tool`, `tool:path` or `value=…`."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    """Of samples after the first, which is greedy."""
    decoding: Literal["off", "calls", "auto"] = "auto"
    """What a model is held to while it writes single calls: nothing, or the tools; `auto` is
    `calls` and says nothing where the endpoint cannot. Programs are written freely.
    """
    docs: Literal["full", "requests", "names"] = "full"
    """What a prompt tells of tools: a stub each, stubs that do not say what responses hold, or
    names alone.
    """
    workers: Annotated[str, _of_form(r"^ray(:\S+)?$", "'ray' or 'ray:ADDRESS'")] | None = None
    """Where benchmarks, indexes and probing are worked on: `ray:HOST:PORT` is a Ray cluster, `ray`
    the one that RAY_ADDRESS names, else one of this machine alone; None: this process.
    """
    learn: bool = True
    """Whether tools whose response schema is missing, or wrong, get one from what their calls
    bring, kept for later runs.
    """
    state_dir: Folder = field(
        default_factory=lambda: platformdirs.user_state_path("atc", appauthor=False)
    )
    """Where runs are stored, unless `store` says otherwise, and what was learned of responses."""
    store: Address | None = field(default=None, repr=False)
    """A PostgreSQL database for the runs of several machines (extra `scale`); None: a file in
    `state_dir`. The password is better kept in `~/.pgpass`.
    """
    cache_dir: Folder = field(
        default_factory=lambda: platformdirs.user_cache_path("atc", appauthor=False)
    )
    """Where models and built data are kept; can be deleted at any time."""
    credentials: Mapping[str, CredentialEntry] = field(default_factory=dict)
    """By the name that a tool's binding gives."""
    mcp: Mapping[str, McpEntry] = field(default_factory=dict)
    """MCP servers by the name that a tool's binding gives."""
    headers: Mapping[Annotated[str, AfterValidator(_host)], Mapping[str, str]] = field(
        default_factory=dict
    )
    """Fixed headers of a source, by the host that its tools call. What is secret belongs into
    `credentials`.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _explained(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Check values that a Python program gives. `atc.cli.settings` explains what files,
        variables and flags hold.
        """
        if not isinstance(given, ArgsKwargs):
            return read(given)
        if given.args:
            raise TypeError(
                "the settings of a Config are given by name, such as Config(max_calls=100)"
            )
        try:
            made = read(given)
        except ValidationError as error:
            raise InvalidConfig(_sentence(error.errors()[0])) from None
        for name, value in (given.kwargs or {}).items():
            _require_kind(name, value, getattr(made, name))
        for name, (what, known) in _CHOICES.items():
            choice = getattr(made, name).partition(":")[0]
            if choice not in known:
                raise InvalidConfig(f"{name}: {unknown_name(choice, known, what=what)}")
        return made


TABLES = ("credentials", "mcp", "headers")
"""Settings that are tables, so they can be neither flags nor variables."""
SETTINGS = tuple(setting.name for setting in fields(Config))
_SECRET = frozenset({*TABLES, "store"})
"""Settings that hold secrets. No message quotes their values."""


def _sentence(problem: ErrorDetails) -> str:
    """Return a sentence that says what is wrong with a setting from a Python program, and what to
    do.
    """
    name = str(problem["loc"][0])
    if name not in SETTINGS:
        near = closest_spellings(name, SETTINGS)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(SETTINGS)}."
        return f"there is no setting {name!r}; {hint}"
    place = ".".join(map(str, problem["loc"][:3])) if name in TABLES else name
    return f"{place} {demand(problem)}{describe_found(problem)}; give another value, or leave it out to have the default."


def _require_kind(name: str, value: object, made: object) -> None:
    """Raise `InvalidConfig` if `value` is a text or a bool and the setting is a number, or similar.

    Files, variables and flags hold texts, so pydantic converts these. A program that gives one has
    made a mistake.
    """
    if (
        isinstance(value, str | bool)
        and isinstance(made, int | float)
        and type(value) is not type(made)
    ):
        wanted = "True or False" if isinstance(made, bool) else "a number"
        raise InvalidConfig(f"{name} must be {wanted}, got {value!r}; write {name}={made!r}.")


def describe_found(problem: ErrorDetails) -> str:
    """Return the value that was found, as the end of a sentence about it; empty if it may hold a
    secret.
    """
    return "" if problem["loc"][0] in _SECRET else f", got {problem['input']!r}"


def public(config: Config) -> dict[str, Json]:
    """Return the configuration as plain JSON, without any secret."""
    plain: dict[str, Json] = config_adapter().dump_python(config, mode="json", warnings=False)
    return plain


@cache
def config_adapter() -> TypeAdapter[Config]:
    """Return the pydantic adapter that validates and dumps the configuration. Making it takes 9 ms,
    so it is cached.
    """
    return TypeAdapter(Config)


def read_value(what: str, value: str) -> str:
    """Return what `env:NAME` or `file:PATH` refers to, or else the text itself. `what` names the
    setting in messages.

    Raises:
        InvalidConfig: The variable is not set, or the file cannot be read.
    """
    scheme, _, rest = value.partition(":")
    if scheme == "env":
        secret = os.environ.get(rest)
        if not secret:
            raise InvalidConfig(
                f"{what}: the variable {rest} is not set; set it, or change its value."
            )
    elif scheme == "file":
        try:
            secret = Path(rest).expanduser().read_text(encoding="utf-8").partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InvalidConfig(f"{what}: cannot read {rest}: {reason}.") from None
        if not secret:
            raise InvalidConfig(f"{what}: the first line of {rest} is empty; put the secret there.")
    else:
        secret = value
    if any(ord(character) < 32 for character in secret):
        raise InvalidConfig(f"{what}: the secret has control characters in it.")
    return secret


def with_secrets(config: Config) -> tuple[Config, dict[str, str]]:
    """Return the configuration with its secrets, and the reasons why some cannot be read.

    The reasons are by name of the credential, or `mcp.SERVER`.
    """
    problems: dict[str, str] = {}

    def read(owner: str, what: str, value: str) -> str:
        try:
            return value and read_value(what, value)
        except InvalidConfig as error:
            problems[owner] = str(error)
            return value

    credentials = {}
    servers = {}
    for name, entry in config.credentials.items():
        value, secret = (
            read(name, f"credential {name!r}", text) for text in (entry.value, entry.client_secret)
        )
        credentials[name] = replace(entry, value=value, client_secret=secret)
    for name, server in config.mcp.items():
        env = {
            key: read(f"mcp.{name}", f"mcp.{name}.env.{key}", text)
            for key, text in server.env.items()
        }
        servers[name] = replace(server, env=env)
    return replace(config, credentials=credentials, mcp=servers), problems


def portable(config: Config) -> Config:
    """Return the configuration for workers on other machines, with each secret read on this one.

    Raises:
        InvalidConfig: A secret cannot be read.
    """
    read, problems = with_secrets(config)
    for problem in problems.values():
        raise InvalidConfig(problem)
    return read
