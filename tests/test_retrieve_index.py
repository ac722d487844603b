"""The index of a tool set: what it holds, what changes it, and that a changed one ranks like a fresh one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument
from atc.retrieve.index import Synced, ToolIndex, vectors
from atc.retrieve.index import index as index_module
from tests.retrieve_index_lab import BagOfWords, document, found, zoo

QUERIES = ["count the fox in Oslo", "cat", "bee bee Lima", "tool_3 dog", "what does it say"]


@pytest.fixture(params=["memory", "disk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "index" if request.param == "disk" else None


def same_ranking(index: ToolIndex, fresh: ToolIndex) -> None:
    for ours, theirs in ((index.lexical, fresh.lexical), (index.dense, fresh.dense)):
        assert ours is not None
        assert theirs is not None
        for mine, other in zip(ours.top(QUERIES, n=7), theirs.top(QUERIES, n=7), strict=True):
            assert [index.names[i] for i in mine.positions] == [fresh.names[i] for i in other.positions]
            np.testing.assert_allclose(mine.scores, other.scores, atol=1e-6)


def holds(index: ToolIndex, documents: list[ToolDocument]) -> None:
    """Whether the index holds exactly these, and each part of it says so."""
    wanted = {document.name: document for document in documents}
    assert dict(index.documents) == wanted
    assert sorted(index.names) == sorted(wanted)
    assert len(index.names) == len(index.documents) == len(wanted)
    assert [index.names[index.position(name)] for name in wanted] == list(wanted)
    assert index.dense is None or index.dense.vectors.shape == (len(wanted), BagOfWords.dimensions)


def test_it_holds_what_it_was_built_of(place: Path | None) -> None:
    documents = [*zoo(50), document("搜索 工具/\ud800", "搜索"), ToolDocument(name="bare")]
    index = ToolIndex.build(documents, folder=place, embedder=BagOfWords())
    holds(index, documents)
    assert index.folder == place
    assert "tool_7" in index.documents
    assert "tool_99" not in index.documents
    with pytest.raises(KeyError):
        index.position("tool_99")


def test_words_and_meaning_are_searched(place: Path | None) -> None:
    index = ToolIndex.build(zoo(50), folder=place, embedder=BagOfWords())
    assert found(index.lexical, "fox in Oslo", n=1) == found(index.dense, "fox in Oslo", n=1)
    assert ToolIndex.build(zoo(3), folder=place).dense is None


def test_an_empty_index_finds_nothing_and_can_be_filled(place: Path | None) -> None:
    index = ToolIndex.build([], folder=place, embedder=BagOfWords())
    assert found(index.lexical, "cat") == found(index.dense, "cat") == []
    index.put([document("cat_counter", "counts cats")])
    assert found(index.lexical, "cat") == found(index.dense, "cat") == ["cat_counter"]
    index.remove(["cat_counter"])
    assert found(index.lexical, "cat") == found(index.dense, "cat") == []


def test_a_tool_without_a_description_is_found_by_its_name(place: Path | None) -> None:
    index = ToolIndex.build([*zoo(20), ToolDocument(name="getZebraCount")], folder=place)
    assert found(index.lexical, "zebras") == ["getZebraCount"]


def test_equal_descriptions_come_in_name_order_in_segment_and_delta() -> None:
    tools = [document(f"t{i:04}", "the very same zebra") for i in range(10_000)]
    index = ToolIndex.build([replace(tool, name="x" + tool.name) for tool in tools[::-1]])
    index.put([document("xt0003a", "the very same zebra")])
    index.merge()
    assert found(index.lexical, "zebra", n=6) == ["xt0000", "xt0001", "xt0002", "xt0003", "xt0003a", "xt0004"]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([document("a"), document("b"), document("a", "other")], "two documents are named 'a'"),
        ([document("a"), ToolDocument(name="", description="nameless")], "no name: 'nameless'"),
    ],
)
def test_a_name_stands_for_one_tool(place: Path | None, documents: list[ToolDocument], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ToolIndex.build(documents, folder=place)
    assert place is None or not ToolIndex.stands(place)
    index = ToolIndex.build(zoo(5), folder=place)
    for change in (index.put, index.sync):
        with pytest.raises(ValueError, match=message):
            change(documents)
    holds(index, zoo(5))


def test_a_tool_that_is_put_is_found_by_the_next_search(place: Path | None) -> None:
    index = ToolIndex.build(zoo(200), folder=place, embedder=BagOfWords())
    lexical, dense = index.lexical, index.dense  # what a retriever keeps
    index.put([document("zebras", "counts zebras"), document("tool_4", "counts yaks")])
    assert found(lexical, "zebras") == ["zebras"]
    assert found(lexical, "yaks") == ["tool_4"]
    assert found(dense, "zebras", n=1) == ["zebras"]
    index.remove(["zebras", "no such tool"])
    assert found(lexical, "zebras") == []
    assert index.pending == 1
    holds(index, [document("tool_4", "counts yaks") if d.name == "tool_4" else d for d in zoo(200)])


def test_what_is_removed_makes_room_for_what_stood_behind_it(place: Path | None) -> None:
    index = ToolIndex.build(zoo(300), folder=place, embedder=BagOfWords())
    before = found(index.lexical, "gnu", n=30)
    index.remove(before[:25])
    assert found(index.lexical, "gnu", n=5) == before[25:30]
    assert not set(before[:25]) & set(found(index.dense, "gnu", n=40))


def test_scores_have_a_column_for_each_document_that_is_left(place: Path | None) -> None:
    index = ToolIndex.build(zoo(100), folder=place, embedder=BagOfWords())
    index.remove(["tool_0", "tool_50"])
    index.put([document("zebras", "counts zebras"), document("tool_7", "counts yaks")])
    at = np.array([index.position(name) for name in ("zebras", "tool_1", "tool_99", "tool_7", "tool_51")])
    for ranker in (index.lexical, index.dense):
        assert ranker is not None
        scores = ranker.scores(["zebras", "counts jay"])
        assert scores.shape == (2, 99)
        np.testing.assert_allclose(ranker.scores(["zebras", "counts jay"], at), scores[:, at], atol=1e-6)
        [best] = ranker.top(["zebras"], n=1)
        assert index.names[int(np.argmax(scores[0]))] == index.names[best.positions[0]] == "zebras"


def test_a_delta_beyond_its_room_is_merged(place: Path | None) -> None:
    index = ToolIndex.build(zoo(40), folder=place, embedder=BagOfWords())
    extra = [document(f"new_{i}", f"counts yaks {i}") for i in range(30)]
    pending = []
    for tool in extra:
        index.put([tool])
        pending.append(index.pending)
    assert pending == [*range(1, 17), 0, *range(1, 14)]
    holds(index, [*zoo(40), *extra])


def test_sync_brings_it_to_exactly_these_documents(place: Path | None) -> None:
    embedder = BagOfWords()
    index = ToolIndex.build(zoo(100), folder=place, embedder=embedder)
    wanted = [document("tool_3", "counts yaks"), *zoo(100)[5:], document("zebras", "counts zebras")]
    embedder.asked.clear()
    assert index.sync(wanted) == Synced(added=1, changed=1, removed=4)
    assert len(embedder.asked) == 2
    assert index.sync(wanted) == Synced()
    assert index.sync(wanted[::-1]) == Synced()
    assert len(embedder.asked) == 2
    holds(index, wanted)
    assert index.sync(zoo(60)) == Synced(added=4, changed=1, removed=41)  # beyond the delta's room
    assert len(embedder.asked) == 7
    holds(index, zoo(60))
    same_ranking(index, ToolIndex.build(zoo(60), embedder=BagOfWords()))


def test_an_index_without_vectors_gets_them_when_it_is_synced_with_an_embedder(tmp_path: Path) -> None:
    ToolIndex.build(zoo(10), folder=tmp_path)
    index = ToolIndex.open(tmp_path, embedder=BagOfWords())
    assert index.dense is None
    assert index.sync([*zoo(9), document("zebras", "counts zebras")]) == Synced(added=1, removed=1)
    assert found(index.dense, "zebras", n=1) == ["zebras"]
    same_ranking(index, ToolIndex.build([*zoo(9), document("zebras", "counts zebras")], embedder=BagOfWords()))


def test_an_outage_of_the_embedding_model_changes_nothing(place: Path | None) -> None:
    class Down(BagOfWords):
        down = False

        def documents(self, texts: object) -> object:  # type: ignore[override]
            if self.down:
                raise RetrievalUnavailable("the endpoint is down")
            return super().documents(texts)  # type: ignore[arg-type]

    embedder = Down()
    index = ToolIndex.build(zoo(30), folder=place, embedder=embedder)
    embedder.down = True
    for change in (lambda: index.put([document("zebras")]), lambda: index.sync([document("zebras")])):
        with pytest.raises(RetrievalUnavailable, match="down"):
            change()
    if place is not None:
        with pytest.raises(RetrievalUnavailable, match="down"):
            ToolIndex.build(zoo(40), folder=place, embedder=embedder)
        assert len(list(place.glob("segment-*"))) == 1
        holds(ToolIndex.open(place, embedder=embedder), zoo(30))
    holds(index, zoo(30))
    embedder.down = False
    index.put([document("zebras")])
    holds(index, [*zoo(30), document("zebras")])


def test_vectors_are_collected_in_parts(place: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_EMBEDDED_AT_ONCE", 7)
    monkeypatch.setattr(vectors, "_COPIED_AT_ONCE", 5)
    index = ToolIndex.build(zoo(30), folder=place, embedder=BagOfWords())
    index.put([document("zebras"), document("tool_3", "counts yaks")])
    index.merge()
    left = [*zoo(3), *zoo(30)[4:], document("zebras"), document("tool_3", "counts yaks")]
    same_ranking(index, ToolIndex.build(left, embedder=BagOfWords()))


def test_progress_is_told() -> None:
    done: list[int] = []
    ToolIndex.build(zoo(5), watch=done.append)
    assert done == [1, 2, 3, 4, 5]


NAMES = st.sampled_from([f"tool_{i}" for i in range(8)])
TEXT = st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "fox", "Oslo", "Lima"]), max_size=4).map(" ".join)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.dictionaries(NAMES, TEXT, min_size=1, max_size=3)),
        st.tuples(st.just("remove"), st.sets(NAMES, max_size=3)),
        st.tuples(st.just("sync"), st.dictionaries(NAMES, TEXT, max_size=6)),
        st.tuples(st.sampled_from(["merge", "reopen"]), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, on_disk=st.booleans(), room=st.integers(0, 6))
def test_after_any_changes_it_holds_the_same_and_once_merged_ranks_like_a_fresh_one(
    steps: list[tuple[str, object]], on_disk: bool, room: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("index") if on_disk else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_SMALLEST_DELTA", room)
        embedder = BagOfWords()
        kept = {d.name: d for d in zoo(4)}
        index = ToolIndex.build(kept.values(), folder=place, embedder=embedder)
        for step, what in steps:
            index = _done(index, embedder, step, what, kept)
            holds(index, list(kept.values()))
        fresh = ToolIndex.build(kept.values(), embedder=embedder)
        _same_set_before_it_is_merged(index, fresh)
        index.merge()
        same_ranking(index, fresh)
        if place is not None:
            same_ranking(ToolIndex.open(place, embedder=embedder), fresh)


def _done(index: ToolIndex, embedder: BagOfWords, step: str, what: object, kept: dict[str, ToolDocument]) -> ToolIndex:
    if step in {"put", "sync"}:
        assert isinstance(what, dict)
        documents = {name: document(name, text) for name, text in what.items()}
        if step == "sync":
            kept.clear()
        kept.update(documents)
        (index.put if step == "put" else index.sync)(documents.values())
    elif step == "remove":
        assert isinstance(what, set)
        index.remove(what)
        for name in what:
            kept.pop(name, None)
    elif step == "merge":
        index.merge()
    elif index.folder is not None:
        return ToolIndex.open(index.folder, embedder=embedder)
    return index


def _same_set_before_it_is_merged(index: ToolIndex, fresh: ToolIndex) -> None:
    """A delta's IDF may lag, so order may differ; what is found may not. Vectors have no such statistics."""
    for query in QUERIES:
        assert sorted(found(index.lexical, query, n=99)) == sorted(found(fresh.lexical, query, n=99))
        assert found(index.dense, query, n=99) == found(fresh.dense, query, n=99)
