"""A tool: its description, the function that calls it, and its names."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Literal, Protocol, cast

from protocols.errors import ToolError
from protocols.files import FileValue, files_in
from protocols.naming import (
    argument_aliases,
    identifier,
    tool_aliases,
)
from protocols.protocol import Binding, HttpBinding, McpBinding, ToolProtocol
from protocols.response import ToolResponse
from protocols.schema import Json, JsonObject, wrapper_key
from protocols.worlds import Effect, Fresh, World

Teller = Literal["user", "document", "address"]
"""Who says what a tool does: the user, a document or server, or a document from an address."""

Call = Callable[[JsonObject], Json]
"""A function that calls a tool and returns the full response. Raises `ToolError` if that fails.

The arguments are keyed by their original names, that is, those of the tool's input schema.
"""


class KeyedCall(Protocol):
    """A function that calls a tool and can send an idempotency key.

    Tools whose binding names an `idempotency_header` have such a function.
    """

    def __call__(self, arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
        """Call the tool and return the full response.

        A service that receives the same key a second time does not act a second time.
        """
        ...


@dataclass(frozen=True)
class Tool:
    """A tool: its description (`protocol`), the function that calls it, and its name in programs.

    `source` is the name of the tool source. `place` is the file of a Python module, or the command
    or address of an MCP server; it distinguishes two sources of the same name. `home` is set if
    this process has started the tool's service: the origin of the service, whose port is random.
    `told_by` is who says what the tool does; it is `user` also if the user declared its effect.
    `effect` and `failed` are given by the user. `effect` is the effect of a call. `failed` takes a
    result and returns True if it is a refusal; the call then counts as failed. If a factory made
    the tool, `fresh` makes the same tools again, with a fresh state. In a run, `world` is the state
    behind the tool.

    `admit` is called with the arguments (keyed by original name) before a call is recorded; it may
    raise an exception to end the run. If `brief` is True, prompts describe the tool in one line.
    """

    protocol: ToolProtocol
    call: Call = field(compare=False)
    alias: str = ""
    source: str = ""
    place: str = ""
    home: str = ""
    told_by: Teller = "user"
    effect: Effect | None = None
    failed: Callable[[Json], bool] | None = field(default=None, compare=False)
    fresh: Fresh | None = field(default=None, compare=False, repr=False)
    world: World | None = field(default=None, compare=False, repr=False)
    admit: Callable[[JsonObject], None] | None = field(default=None, compare=False)
    brief: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not self.alias:
            object.__setattr__(self, "alias", tool_aliases([(self.protocol.name, self.source)])[0])

    @property
    def takes_idempotency_key(self) -> bool:
        """True if a call can carry an idempotency key.

        With the same key, a call can be sent again without taking effect twice.
        """
        binding = self.protocol.binding
        return isinstance(binding, HttpBinding) and bool(binding.idempotency_header)

    def send(
        self,
        arguments: JsonObject,
        *,
        idempotency_key: str | None = None,
        query: JsonObject | None = None,
    ) -> ToolResponse:
        """Call the tool and return its full response.

        `idempotency_key` is ignored if the tool takes none. `query` has further values for the
        query of an HTTP request, from the address of a next page.

        Raises:
            ToolError: the call failed, or `failed` says that the response is a refusal.
        """
        if self.world is None:
            return self._send(arguments, idempotency_key, query)
        received: list[ToolResponse] = []

        def send(arguments: JsonObject) -> Json:
            received.append(self._send(arguments, idempotency_key, query))
            return received[-1].value

        value = self.world.send(self.qualified, arguments, send, steps=self.is_step)
        # The tools that a factory has made do not use `send`.
        return received[-1] if received else ToolResponse(value, files=files_in(value))

    def send_for_value(self, arguments: JsonObject) -> Json:
        """Call the tool and return only the value of its response. Otherwise the same as `send`."""
        return self.send(arguments).value

    def _send(
        self, arguments: JsonObject, key: str | None, query: JsonObject | None
    ) -> ToolResponse:
        """Call the tool's own function. Unlike `send`, ignore `world`."""
        if (respond := getattr(self.call, "respond", None)) is not None:
            response: ToolResponse = respond(arguments, idempotency_key=key, query=query)
        elif key is not None and self.takes_idempotency_key:
            call = cast("KeyedCall", self.call)
            response = ToolResponse(call(arguments, idempotency_key=key))
        else:
            response = ToolResponse(self.call(arguments))
        if isinstance(response.value, FileValue) or isinstance(self.protocol.binding, McpBinding):
            response = replace(response, files=files_in(response.value))
        result = self.unwrap(response.value)
        if self._is_refusal(result):
            raise ToolError(None, result if isinstance(result, str) else json.dumps(result))
        return response

    def _is_refusal(self, result: Json) -> bool:
        """Return True if the user's function `failed` says that a result is a refusal.

        A mistake in that function must not lose the result of a call that was made. So the result
        stands, and a warning says what is wrong.
        """
        try:
            return self.failed is not None and bool(self.failed(result))
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything
            warnings.warn(
                f"the function 'failed' of {self.qualified!r} raised {type(error).__name__}:"
                f" {error}; the result counts as no refusal. Mend the function.",
                RuntimeWarning,
                stacklevel=2,
            )
            return False

    def note_answer(self, arguments: JsonObject, result: Json) -> None:
        """Record in the tool's world that a stored result answered a call, which was not sent.

        `arguments` are keyed by alias.
        """
        if self.world is not None and self.is_step:
            self.world.answered(self.qualified, self.original_arguments(arguments), result)

    @property
    def is_step(self) -> bool:
        """True if a call may change the results of later calls in the same world."""
        return self.effect == "session" or self.protocol.writes

    @property
    def repeats(self) -> Effect | None:
        """The rule by which the result of an equal earlier call answers a call of this tool.

        `pure`: it always answers the call. `session`: it does so if the same calls precede the
        call, because the state is then the same. None: the rule for all other tools applies.
        """
        in_world = self.fresh is not None and self.protocol.writes
        return "session" if in_world else self.effect

    @property
    def credentials(self) -> tuple[str, ...]:
        """The names of the configured credentials that a call of this tool sends."""
        return tuple(getattr(self.call, "credentials", ()))

    @property
    def has_secrets(self) -> bool:
        """True if a call of this tool sends a secret of the user, or its server is given one."""
        return bool(getattr(self.call, "has_secrets", False))

    @property
    def qualified(self) -> str:
        """The name `SOURCE/NAME`, which settings use for exactly this tool.

        A tool of another source cannot have this name.
        """
        return f"{self.source}/{self.protocol.name}" if self.source else self.protocol.name

    @cached_property
    def names(self) -> frozenset[str]:
        """All names by which a setting may refer to this tool.

        They depend only on its source and its name, not on the other tools. So they do not include
        an alias that got a number because another tool has the same name.
        """
        name = self.protocol.name
        prefix = f"{self.source}_" if self.source else ""
        return frozenset({name, self.qualified, identifier(name), identifier(prefix + name)})

    @cached_property
    def identity(self) -> str:
        """Digest of the source, the name and the binding. Identifies the tool in later runs.

        The same tool has another identity if a factory makes it, because a resumed run can then
        start from a fresh state.
        """
        parts = (self.source, self.protocol.name, self.place, self._binding_without_origin)
        known = repr(parts if self.fresh is None else (*parts, "made by a factory"))
        return sha256(known.encode()).hexdigest()[:32]

    @cached_property
    def call_digest(self) -> str:
        """Digest of the operation that a call reaches. Different operations have different digests.

        The digest covers the query of the URL, which may select the operation. A secret in the
        query cannot be recovered from the digest. How the tool's description was stored has no
        influence.
        """
        binding = (
            None if self._binding_without_origin is None else asdict(self._binding_without_origin)
        )
        known = json.dumps(
            [self.place, type(self._binding_without_origin).__name__, binding],
            sort_keys=True,
            default=str,
        )
        return sha256(known.encode()).hexdigest()[:32]

    @property
    def _binding_without_origin(self) -> Binding | None:
        """The binding of the tool, without what differs from run to run.

        If this process started the service, the URL has no scheme, host and port.
        """
        binding = self.protocol.binding
        if (
            isinstance(binding, HttpBinding)
            and self.home
            and f"{binding.url}/".startswith(f"{self.home}/")
        ):
            return replace(binding, url=binding.url.removeprefix(self.home))
        return binding

    @cached_property
    def arguments(self) -> Mapping[str, str]:
        """Original names of the arguments, keyed by alias, in declared order."""
        return argument_aliases(list(self.protocol.parameters))

    @property
    def unclear_own_name(self) -> str:
        """The name in the source if the alias does not show it, else "".

        This is so if another tool has a name that differs only in characters that an alias cannot
        have, such as `list files` and `list_files`.
        """
        usual = identifier(self.protocol.name)
        is_shown = usual in (self.alias, self.protocol.name)
        return "" if is_shown else self.protocol.name

    def unclear_name(self, alias: str) -> str:
        """Return the original name of an argument if its alias does not show it, else "".

        This is so if the names of two arguments differ only in characters that an alias cannot
        have, such as `page[size]` and `page_size`, or `-sort` and `sort`.
        """
        name = self.arguments[alias]
        if alias == name:
            return ""
        is_alike = self._alike_aliases[alias.replace("_", "")] > 1
        return name if is_alike or alias != identifier(name) else ""

    @cached_property
    def _alike_aliases(self) -> Counter[str]:
        """The number of arguments for each alias written without `_`."""
        return Counter(alias.replace("_", "") for alias in self.arguments)

    @cached_property
    def required(self) -> frozenset[str]:
        """Aliases of the required arguments."""
        return frozenset(
            alias for alias, name in self.arguments.items() if name in self.protocol.required
        )

    @cached_property
    def wrapper(self) -> str | None:
        """The key of a response that only wraps one field (`{"flights": […]}`), or None.

        Programs get the value of this field and not the whole response.
        """
        return wrapper_key(self.protocol.output_schema)

    def original_arguments(self, arguments: JsonObject) -> dict[str, Json]:
        """Return the values of arguments keyed by original name instead of alias.

        Unknown aliases stay as they are.
        """
        return {self.arguments.get(alias, alias): value for alias, value in arguments.items()}

    def check(self, arguments: JsonObject) -> None:
        """Check that arguments, keyed by original name, can be sent. Nothing is sent.

        Raises:
            ToolError: they cannot be sent.
        """
        if check := getattr(self.call, "check", None):
            check(arguments)

    def unwrap(self, response: Json) -> Json:
        """Return the part of a response that programs get.

        This is the value at the key `wrapper`, if the tool has one, and else the whole response.
        """
        if isinstance(response, FileValue):
            return response
        if self.wrapper is not None and isinstance(response, Mapping) and self.wrapper in response:
            return response[self.wrapper]
        return response
