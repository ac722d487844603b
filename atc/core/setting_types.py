"""Types of settings: how pydantic checks, converts and shows their values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from protocols.secrets.sources import mask_source
from sandbox.choose import AUTO, NAMES

SECRET_PLACES = ("env:", "file:", "keyring:", "command:")
"""Beginnings of values that only refer to a secret; `atc.core.secret_values` reads it there."""


def without_password(address: str) -> str:
    """Return the address of a database without its password, so that it can be shown.

    If it is unclear where the password ends, more than the password is left out.
    """
    shown = re.sub(r"://([^:/@]*):.*@", r"://\1:***@", address)
    return re.sub(r"(password=)[^&\s]*", r"\1***", shown)


def _check_host(text: str) -> str:
    """Check that the text of a setting is a host, with or without a port, and return the text."""
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        host = text
        port = ""
    if not host or set(host) & set("/@?#* \t") or "://" in text or (port and int(port) >= 65536):
        raise PydanticCustomError(
            "setting", "must be a host, such as 'api.example.org' or 'localhost:8080'"
        )
    return text


def _without_secret(value: str) -> str:
    """Return the value of a secret setting in a form that can be shown.

    `env:NAME`, `file:PATH` and `keyring:NAME` are unchanged, since they only refer to the secret.
    Of a command only the first word is shown. Any other value becomes `***`.
    """
    if value.startswith("command:"):
        return f"{' '.join(value.split()[:1])} …" if " " in value.strip() else value
    return value if not value or value.startswith(SECRET_PLACES) else "***"


def mask_sources(sources: Sequence[str]) -> list[str]:
    """Return the addresses of tool sources with the secrets in them masked."""
    return [mask_source(source) for source in sources]


def mask_command(command: Sequence[str]) -> list[str]:
    """Return the words of a command with the secrets among them masked."""
    return shlex.split(mask_source(f"mcp:{shlex.join(command)}").removeprefix("mcp:"))


def _resolve_model_path(model: str) -> str:
    """Return the name of a model; if it is the path of a file, make the path absolute.

    With an absolute path, a run can be resumed in any folder.
    """
    return re.sub(
        r"^(scripted:|(?=.*\.gguf$))(.+)",
        lambda at: f"{at[1]}{Path(at[2]).expanduser().absolute()}",
        model,
    )


def of_form(pattern: str, description: str) -> AfterValidator:
    """Return a pydantic validator for texts that match the regular expression `pattern`.

    Its error message is built from `description`: `a host` gives "must be a host".
    """

    def check_form(text: str) -> str:
        if re.search(pattern, text) is None:
            raise PydanticCustomError(
                "setting", "must be {description}", {"description": description}
            )
        return text

    return AfterValidator(check_form)


Text = Annotated[str, of_form(r"\S", "a text that is not empty")]
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
File = Folder
PathText = Annotated[
    str, AfterValidator(lambda text: text and str(Path(text).expanduser().absolute()))
]
Model = Annotated[Text, AfterValidator(_resolve_model_path)]
DatabaseAddress = Annotated[
    str,
    of_form("^postgres(ql)?://", "an address such as postgresql://USER@HOST/NAME"),
    PlainSerializer(without_password),
]
Host = Annotated[str, AfterValidator(_check_host)]
Backend = Annotated[
    str, of_form(f"^({'|'.join((AUTO, *NAMES))})$", f"one of {AUTO}, {', '.join(NAMES)}")
]
