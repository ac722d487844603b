"""The entries of the settings `credentials` and `mcp`, and how pydantic checks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

import pydantic.dataclasses
from pydantic import ConfigDict, Field, PlainSerializer, model_validator
from pydantic_core import PydanticCustomError

from atc.core.setting_types import Host, PathText, Secret, Text, Words, mask_command, of_form
from protocols.secrets.sources import mask_source
from protocols.settings import Credential, McpServer

CLOSED = ConfigDict(extra="forbid", defer_build=True)


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=CLOSED)
class CredentialEntry(Credential):
    """A secret that tools may use, and the hosts that it may be sent to.

    How it is sent, for example in which header, is described by the tool's OpenAPI document or
    binding.
    """

    value: Annotated[Secret, of_form(r"^[^\n]*\Z", "one line of text")] = Field("", repr=False)
    """`env:NAME`, `file:PATH` or `command:WORDS` (their first line), `keyring:NAME`, or the secret.

    The secret is a key, a token, or `user:password`.
    """
    hosts: tuple[Host, ...] = Field(min_length=1)
    """Hosts to which the secret may be sent, such as `api.example.org` or `localhost:8080`."""
    client_secret: Secret = Field("", repr=False)
    password: Secret = Field("", repr=False)
    """Password of `username`, given like `value`.

    A token is fetched with both, or they are sent with each call for HTTP basic.
    """
    scopes: tuple[Text, ...] = ()
    ca: PathText = ""
    """PEM file with the certificates of an authority that is trusted for `hosts`, and no other."""
    certificate: PathText = ""
    """PEM file with a client certificate for connections to `hosts`, and perhaps its key."""
    key: PathText = ""
    """PEM file with the key of `certificate`, if it is not in the same file."""

    @model_validator(mode="after")
    def _require_secret(self) -> Self:
        if bool(self.username) != bool(self.password):
            raise PydanticCustomError("setting", "needs both a username and a password")
        if self.key and not self.certificate:
            raise PydanticCustomError("setting", "has a key, but needs a certificate, too")
        secrets = self.value, self.client_id, self.password, self.ca, self.certificate
        if not any(secrets):
            raise PydanticCustomError(
                "setting", "needs a value, or a client_id, or a username and a password"
            )
        return self


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=CLOSED)
class McpEntry(McpServer):
    """An MCP server that the user has configured. Its command is started without asking."""

    command: Annotated[Words, PlainSerializer(mask_command)] = ()
    """The words of the command, or one line as for a shell. Either this or `url` is set."""
    url: Annotated[str, PlainSerializer(mask_source)] = ""
    env: Mapping[Text, Secret] = Field(default_factory=dict, repr=False)
    """Environment variables of the command.

    Each is `env:NAME`, `file:PATH`, `keyring:NAME` or the text itself.

    Of the current environment, the command inherits only HOME, LOGNAME, PATH, SHELL, TERM and USER.
    """

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise PydanticCustomError("setting", "needs either a command or a url")
        return self
