"""All settings of atc as one frozen value, the class `Config`.

`atc.settings.reading` builds it from files and flags. Each setting is a field with a type, which
pydantic checks, a default and a docstring, from which the reference is generated. A secret is kept
as the name of a variable or file until a tool needs it; `atc.core.secret_values` reads it then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from functools import cache
from typing import Annotated, Any, Literal, Self

import platformdirs
import pydantic.dataclasses
from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ArgsKwargs, ErrorDetails

from atc.core.limit_settings import LimitSettings, SourceLimitEntry
from atc.core.setting_tables import CLOSED, CredentialEntry, McpEntry
from atc.core.setting_types import (
    AboveZero,
    AtLeastOne,
    Backend,
    DatabaseAddress,
    File,
    Folder,
    Host,
    Model,
    Names,
    NotNegative,
    Prices,
    Text,
    mask_sources,
    of_form,
)
from atc.core.specs import demand, unknown_name
from protocols.errors import AtcError
from protocols.naming import closest_spellings
from protocols.schema import Json
from sandbox.choose import AUTO
from sandbox.lost_writes import OnUnknown

STRATEGIES = (
    "auto", "chain", "stepwise", "react", "react@3", "dfsdt", "dfsdt@3", "codeact", "restgpt",
    "conagents", "anytool",
)  # fmt: skip
"""Names of strategies; `atc.strategies.registry` describes them."""
METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "blend",
    "d2q",
    "reinvoke-split",
    "reinvoke",
    "hyde",
    "hyde-prf",
    "q2e",
    "q2e-prf",
    "q2d",
    "q2d-prf",
    "planned",
    "toolqp",
    "listwise",
    "anytool",
)
"""Names of search methods; `atc.pipeline.retrieve.methods` describes them."""
_CHOICES = {
    "strategy": ("strategy", STRATEGIES),
    "retrieval": ("method of search", (AUTO, *METHODS)),
}
"""Settings whose value is a name, perhaps with flags: a noun for messages, and the known names."""


class InvalidConfig(AtcError):
    """Raised if a setting cannot be used.

    The message names the file, flag or variable, the key, the value, and what is allowed.
    """


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=CLOSED)
class Config:
    """All settings of atc with their defaults.

    Raises:
        InvalidConfig: There is no such setting, or the setting does not accept the value.
    """

    model: Model | None = None
    """A model's name, or `local`.

    None: the endpoint of OPENAI_BASE_URL or OPENAI_API_KEY if one is set, else the embedded model.
    """
    model_timeout: AboveZero = 120.0
    """Seconds to wait for one reply of an endpoint."""
    model_retries: NotNegative = 4
    """How often a request to an endpoint is repeated after a failure that may be temporary."""
    tools: Annotated[Names, PlainSerializer(mask_sources)] = ()
    """Protocol folders, OpenAPI files or addresses, Python modules, HAR recordings and MCP servers.

    If there are none, the built-in flights service is used.
    """
    start_servers: bool = False
    """Start the commands of MCP servers in `tools` without asking."""
    trust_annotations: bool = False
    """Believe every MCP server that declares that a tool only reads."""
    lend_credentials: bool = True
    """Let tools use the credentials and MCP servers below.

    Tools that an untrusted `atc.toml` names can never use them.
    """
    near_hosts: bool = True
    """Let tools call services on this machine and in its own networks.

    Tools that an untrusted `atc.toml` names can never call them.
    """
    strategy: Text = "auto"
    """How a task is solved: a strategy, perhaps with flags, as in `anytool:solver=cot,pool=16`."""
    repair: Literal["facts", "reflection", "traceback", "none"] = "facts"
    """Content of the prompt that asks the model to repair a program.

    `facts`: what is known about the failure; `reflection`: the method of the ATC paper;
    `traceback`: Python's traceback; `none`: programs are not repaired.
    """
    retrieval: Text = AUTO
    """Method of finding tools if not all of them fit the prompt.

    The methods are listed by `atc tools search --help`.
    """
    embedder: Text = "minilm+paraphrase"
    """Model that turns tools and queries into vectors.

    The default combines two small models. Others are those of `atc models list` (`minilm` has a
    third of the size), or `openai:NAME`.
    """
    index: Folder | None = None
    """Folder of the search index. None: a folder in the cache for each set of tool sources."""
    sandbox: Backend = AUTO
    """Sandbox that runs the program: a backend, or `auto` for the best one available."""
    policy: bool = False
    """Review each program before it runs, and refuse, with a reason, what only attacks need."""
    max_tools: AtLeastOne = 40
    """Maximum number of tools in one prompt, if not all of them fit."""
    prompt_tokens: Annotated[int, Field(ge=200)] | None = None
    """Maximum number of tokens for tool descriptions in a prompt. None: it suits the model."""
    samples: AtLeastOne | None = None
    """Maximum number of replies that are sampled for one prompt until one contains a new program.

    None: 4 for the embedded model, else 1.
    """
    max_repairs: NotNegative = 3
    """Maximum number of programs that are written after the first one failed."""
    max_calls: NotNegative = 500
    """Maximum number of tool calls of one execution."""
    max_tokens: AtLeastOne | None = None
    """Maximum number of model tokens of one run, prompts and replies together. None: no limit."""
    max_model_calls: AtLeastOne | None = None
    """Maximum number of requests to the model in one run. None: no limit."""
    max_seconds: AboveZero | None = None
    """Maximum duration of one run in seconds of wall time. None: no limit."""
    max_cost: AboveZero | None = None
    """Maximum cost of the model in one run in USD, see `model_price`. None: no limit."""
    model_price: Prices | None = None
    """Prices of a million tokens in USD: of prompts, and of replies.

    None: the list price (`atc/models/prices.py`).
    """
    allow_writes: Names = ()
    """Tools that may change something without asking a person; `all` means every tool."""
    on_unknown: OnUnknown = "stop"
    """What to do if it is unknown whether a write took effect.

    `stop` pauses the run, `skip` continues without the write.
    """
    settle_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    """Seconds to wait for a write to become visible in the read that verifies it.

    Such a read is made if the response of the write was lost.
    """
    trust: Names = ()
    """Sources whose values sensitive arguments may have: `tool`, `tool:path` or `value=…`.

    `tool.argument` opens this argument of this tool, which then accepts any value.
    """
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    """Temperature of all samples except the first one, for which it is 0."""
    decoding: Literal["off", "calls", "auto"] = "auto"
    """Constrained decoding of single calls; programs are never constrained.

    `calls` allows only calls that fit the tools' schemas. `auto` does the same if the endpoint
    supports it, and gives no message if it does not.
    """
    docs: Literal["full", "compact", "requests", "names"] | None = None
    """What prompts say about each tool.

    `full` is a stub, `compact` a line with the same types and less text, `requests` a stub without
    the shape of the response, `names` the name only. None: `compact` for the embedded model, `full`
    for others.
    """
    workers: Annotated[str, of_form(r"^ray(:\S+)?$", "'ray' or 'ray:ADDRESS'")] | None = None
    """Where benchmarks, indexing and probing run.

    `ray:HOST:PORT` is a Ray cluster, `ray` the cluster that RAY_ADDRESS names, or else one on this
    machine. None: this process.
    """
    learn: bool = True
    """Learn response schemas from responses, and keep them for later runs.

    Only tools that declare no response schema, or a wrong one, get a learned one.
    """
    state_dir: Folder = field(
        default_factory=lambda: platformdirs.user_state_path("atc", appauthor=False)
    )
    """Folder of the learned response schemas, and of the runs if `store` is not set."""
    store: DatabaseAddress | None = field(default=None, repr=False)
    """PostgreSQL database for the runs of several machines (extra `scale`).

    None: a file in `state_dir`. It is better to keep the password in `~/.pgpass`.
    """
    keep_days: AboveZero = 30.0
    """Days after the beginning of a run at which its files are deleted; also `[store] keep_days`.

    The rest of the run stays until it is purged.
    """
    cache_dir: Folder = field(
        default_factory=lambda: platformdirs.user_cache_path("atc", appauthor=False)
    )
    """Folder of models and derived data; it can be deleted at any time."""
    env_file: File | None = None
    """A `.env` file in which `env:NAME` looks for variables that are not set.

    It serves nothing else. ATC_*, PATH and OPENAI_BASE_URL are not taken from it.
    """
    credentials: Mapping[str, CredentialEntry] = field(default_factory=dict)
    """Credentials, keyed by the name that a tool's binding uses."""
    mcp: Mapping[str, McpEntry] = field(default_factory=dict)
    """MCP servers, keyed by the name that a tool's binding uses."""
    limits: LimitSettings = field(default_factory=LimitSettings)
    """Limits of the calls of tools, and of programs."""
    source_limits: Mapping[Text, SourceLimitEntry] = field(default_factory=dict)
    """Limits of single sources, keyed by host or by the name of an MCP server."""
    headers: Mapping[Host, Mapping[str, str]] = field(default_factory=dict)
    """Fixed headers, keyed by the host to which they are sent. Secrets belong in `credentials`."""

    @model_validator(mode="wrap")
    @classmethod
    def _check_arguments(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Check the arguments of `Config(…)` in a Python program.

        Wrong values from files, environment variables and flags are reported by
        `atc.settings.reading` instead.
        """
        if not isinstance(given, ArgsKwargs):
            return read(given)
        if given.args:
            raise TypeError(
                "the settings of a Config are given by name, such as Config(max_calls=100)"
            )
        if named := find_command(given.kwargs or {}):
            raise InvalidConfig(
                f"{named}: a command is taken from your own settings file only; read its output"
                " in the program, and give that."
            )
        try:
            config = read(given)
        except ValidationError as error:
            raise InvalidConfig(_explain_argument(error.errors()[0])) from None
        for name, value in (given.kwargs or {}).items():
            _require_kind(name, value, getattr(config, name))
        for name, (what, known) in _CHOICES.items():
            choice = getattr(config, name).partition(":")[0]
            if choice not in known:
                raise InvalidConfig(f"{name}: {unknown_name(choice, known, what=what)}")
        return config


TABLES = ("credentials", "mcp", "headers", "limits", "source_limits")
"""Settings that are tables. Of them, flags and environment variables set only those of `limits`."""
SETTINGS = tuple(setting.name for setting in fields(Config))
_SECRET = frozenset({"credentials", "mcp", "headers", "store"})
"""Settings whose values may contain secrets, so that no message quotes them."""


def find_command(values: Mapping[str, Any]) -> str:
    """Return the key of a value in a table that is a command (`command:WORDS`); "" without one.

    `values` are settings as they stand in a file or in a program, keyed by name.
    """
    for table in TABLES:
        entries = values.get(table)
        for name, entry in entries.items() if isinstance(entries, Mapping) else ():
            for key, value in entry.items() if isinstance(entry, Mapping) else ():
                inner = value.values() if isinstance(value, Mapping) else (value,)
                if any(isinstance(one, str) and one.startswith("command:") for one in inner):
                    return f"{table}.{name}.{key}"
    return ""


def _explain_argument(problem: ErrorDetails) -> str:
    """Return a sentence that says what is wrong with an argument of `Config(…)`, and what to do."""
    name = str(problem["loc"][0])
    if name not in SETTINGS:
        near = closest_spellings(name, SETTINGS)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(SETTINGS)}."
        return f"there is no setting {name!r}; {hint}"
    place = ".".join(map(str, problem["loc"][:3])) if name in TABLES else name
    return (
        f"{place} {demand(problem)}{describe_found(problem)};"
        " give another value, or leave it out to have the default."
    )


def _require_kind(name: str, value: object, setting: object) -> None:
    """Check that a number or a bool was not set to a text, nor a number to a bool.

    `value` is the argument that a Python program passed for the setting `name`, and `setting` is
    the value to which pydantic converted it. pydantic must convert texts for files, variables and
    flags, which contain only texts. But a Python program that passes a text for a number has made a
    mistake.

    Raises:
        InvalidConfig: `value` is a text or a bool, and the setting is a number or a bool.
    """
    converted = type(value) is not type(setting)
    if isinstance(value, str | bool) and isinstance(setting, int | float) and converted:
        wanted = "True or False" if isinstance(setting, bool) else "a number"
        raise InvalidConfig(f"{name} must be {wanted}, got {value!r}; write {name}={setting!r}.")


def describe_found(problem: ErrorDetails) -> str:
    """Return the end of a message that quotes the wrong value: `, got …`.

    `problem` is pydantic's error. Return "" if the value may be secret.
    """
    return "" if problem["loc"][0] in _SECRET else f", got {problem['input']!r}"


def public(config: Config) -> dict[str, Json]:
    """Return the configuration as JSON, in which secrets are masked or left out."""
    plain: dict[str, Json] = config_adapter().dump_python(config, mode="json", warnings=False)
    return plain


@cache
def config_adapter() -> TypeAdapter[Config]:
    """Return the pydantic adapter that validates and dumps configurations.

    It is cached because building it takes 9 ms.
    """
    return TypeAdapter(Config)
