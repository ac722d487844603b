"""The hierarchy of categories, tools and their functions."""

from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import Hierarchy, clip_to_room, page, resolve_name


def test_documents_are_grouped_by_category_and_tool():
    made = {
        "a": ToolDocument(name="a", category="travel", collection="trains"),
        "b": ToolDocument(name="b"),
    }
    hierarchy = Hierarchy.of(made)
    assert hierarchy.tools["travel"] == {"trains": ("a",)}
    assert set(hierarchy.apis(hierarchy.places())) == {"a", "b"}


def test_lists_are_paged_and_names_resolved():
    assert page(["one", "two"], 1, room=100) == "one\ntwo"
    assert "page 1 of 2" in page(["one " * 50, "two " * 50], 1, room=60).lower()
    assert resolve_name("Trains", ["trains", "flights"]) == "trains"
    assert resolve_name("x", ["trains"]) is None
    assert len(clip_to_room("word " * 500, room=20)) < 500
