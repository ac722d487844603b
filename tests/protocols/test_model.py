"""The interface of a language model."""

from protocols.model import Powers, forget, powers


def test_an_unknown_model_has_no_powers():
    assert powers(lambda messages: None) == Powers()
    forget(lambda messages: None)
