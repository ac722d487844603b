"""Extras of the package."""

from atc.cli.extras import extra_of


def test_a_module_belongs_to_its_first_extra():
    assert extra_of("mcp") == "mcp"
    assert extra_of("zzz") is None
    assert extra_of(None) is None
