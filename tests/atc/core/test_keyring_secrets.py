"""Keyrings that cannot be used: each is one sentence, and none gives or gets a secret."""

import sys
import types

import pytest

from atc.core.config import InvalidConfig
from atc.core.keyring_secrets import read_keyring, write_keyring


class KeyringError(Exception):
    pass


class NoKeyringError(KeyringError):
    pass


class PlaintextKeyring:
    """As that of keyrings.alt is called."""


class Chain:
    """As keyring's `ChainerBackend`: it asks several others."""

    backends = (object(), PlaintextKeyring())


def fail(error):
    raise error


@pytest.fixture
def keyring(monkeypatch):
    fake = types.ModuleType("keyring")
    fake.errors = types.ModuleType("keyring.errors")
    fake.errors.KeyringError = KeyringError
    fake.errors.NoKeyringError = NoKeyringError
    fake.get_keyring = object
    fake.get_password = lambda *_: "s3cret"
    fake.set_password = lambda *_: fail(AssertionError("written"))
    monkeypatch.setitem(sys.modules, "keyring", fake)
    monkeypatch.setitem(sys.modules, "keyring.errors", fake.errors)
    return fake


@pytest.mark.parametrize("backend", [PlaintextKeyring, Chain])
def test_a_keyring_without_encryption_is_refused(keyring, backend):
    assert read_keyring("x", "name") == "s3cret"
    keyring.get_keyring = backend
    for use in (lambda: read_keyring("x", "name"), lambda: write_keyring("x", "name", "s3cret")):
        with pytest.raises(InvalidConfig, match="keeps secrets unencrypted, so it is not used"):
            use()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyringError("Failed to unlock\nthe collection!"), "refused: Failed to unlock the colle"),
        (NoKeyringError(), "this machine has no keyring"),
        (OSError("no session bus"), "the keyring refused: no session bus; unlock it, or give"),
    ],
)
def test_a_keyring_that_fails_is_one_sentence(keyring, error, expected):
    keyring.get_password = lambda *_: fail(error)
    with pytest.raises(InvalidConfig, match=expected) as caught:
        read_keyring("x", "name")
    assert "\n" not in str(caught.value)
