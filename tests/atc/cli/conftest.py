"""A user at the command line, and the shop whose tools the user has."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.labs.user import User, service


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Return a user whose folders are empty."""
    return User(tmp_path)


@pytest.fixture
def shop(stack: ExitStack):
    """Return a service with a tool that reads (`find`) and one that writes (`order`)."""
    return service(stack, ("order", "post", "/order"), ("find", "get", "/find"))
