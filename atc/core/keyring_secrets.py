"""Secrets in the keyring of the operating system, through the optional library `keyring`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from atc.core.config import InvalidConfig

SERVICE = "atc"
"""Name under which the keyring lists the secrets of atc."""
_INSTALL = "pip install 'automatic-tool-chain[keyring]'"


def read_keyring(what: str, name: str) -> str:
    """Return the secret with this name in the keyring. `what` names the setting in messages.

    Raises:
        InvalidConfig: There is no keyring, or it has no such secret.
    """
    keyring = _load(what)
    try:
        secret: str | None = keyring.get_password(SERVICE, name)
    except Exception as error:  # back ends also raise errors of their own libraries
        raise InvalidConfig(_explain(what, keyring, error)) from error
    if not secret:
        raise InvalidConfig(
            f"{what}: the keyring has no secret {name!r} of {SERVICE!r}; put it there with:"
            f" keyring set {SERVICE} {name}"
        )
    return secret


def write_keyring(what: str, name: str, secret: str) -> None:
    """Put a secret into the keyring. `what` names the setting in messages.

    Raises:
        InvalidConfig: There is no keyring, or it refuses the secret.
    """
    keyring = _load(what)
    try:
        keyring.set_password(SERVICE, name, secret)
    except Exception as error:  # see `read_keyring`
        raise InvalidConfig(_explain(what, keyring, error)) from error


def _load(what: str) -> Any:
    """Return the library `keyring`, which is imported only if a setting names a keyring."""
    try:
        library = import_module("keyring")
        import_module("keyring.errors")
    except ModuleNotFoundError as error:
        raise InvalidConfig(
            f"{what}: a secret in the keyring needs {error.name!r}, which is not installed:"
            f" {_INSTALL}"
        ) from error
    _refuse_plaintext(what, library.get_keyring())
    return library


def _refuse_plaintext(what: str, backend: Any) -> None:
    """Check that the keyring does not keep secrets unencrypted, as some of `keyrings.alt` do.

    Raises:
        InvalidConfig: It does, or one of the keyrings in a chain does.
    """
    for one in (backend, *getattr(backend, "backends", ())):
        names = [part.__name__ for part in type(one).__mro__]
        if any("plaintext" in name.lower() for name in names):
            place = f"{type(one).__module__}.{type(one).__qualname__}"
            raise InvalidConfig(
                f"{what}: the keyring {place} keeps secrets unencrypted, so it is not used; choose"
                " another one in keyringrc.cfg, or give 'env:NAME' or 'file:PATH'."
            )


def _explain(what: str, keyring: Any, error: Exception) -> str:
    """Return a sentence about a keyring that cannot be used. It never quotes the secret."""
    if isinstance(error, keyring.errors.NoKeyringError):
        return (
            f"{what}: this machine has no keyring that can be used; give 'env:NAME' or 'file:PATH'"
            " instead."
        )
    reason = " ".join(str(error).split()) or type(error).__name__
    return f"{what}: the keyring refused: {reason}; unlock it, or give 'env:NAME' instead."
