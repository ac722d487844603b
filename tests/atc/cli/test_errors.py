"""Exit codes and documentation pages of errors."""

from importlib import import_module

import pytest

from atc.cli.errors import ERRORS, ExitCode, error_document, find_entry
from atc.store import UnknownRun
from protocols.errors import AtcError, SourceUnavailable


@pytest.mark.parametrize("name", ERRORS)
def test_every_entry_is_an_error_of_atc(name: str) -> None:
    module, _, kind = name.rpartition(".")
    assert issubclass(getattr(import_module(module), kind), AtcError)


def test_subclasses_share_the_entry_of_their_base() -> None:
    assert find_entry(UnknownRun("no such run")).code == ExitCode.USAGE
    assert find_entry(SourceUnavailable("down")).code == ExitCode.ENVIRONMENT


def test_error_kinds_are_named_by_their_codes() -> None:
    assert error_document("no\n such file", 2) == {"error": "no such file", "kind": "usage"}
    assert error_document(None, 0) == {}
