"""The index of a tool set: what it holds, in memory and on disk, and what becomes of it when something goes wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atc.pipeline.retrieve import dense
from atc.pipeline.retrieve import index as index_module
from atc.pipeline.retrieve.base import RetrievalUnavailable
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.document_store import FILE, DocumentStore
from atc.pipeline.retrieve.index import ToolIndex
from protocols.private_files import CannotWrite
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE
from tests.labs.rankers import BagOfWords, document, found, zoo

QUERIES = ["count the fox in Oslo", "cat", "bee bee Lima", "tool_3 dog", "what does it say"]


@pytest.fixture(params=["memory", "disk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "index" if request.param == "disk" else None


def same_ranking(index: ToolIndex, fresh: ToolIndex) -> None:
    for ours, theirs in ((index.lexical, fresh.lexical), (index.dense, fresh.dense)):
        assert ours is not None
        assert theirs is not None
        for mine, other in zip(ours.top(QUERIES, n=7), theirs.top(QUERIES, n=7), strict=True):
            assert [index.names[i] for i in mine.positions] == [
                fresh.names[i] for i in other.positions
            ]
            np.testing.assert_allclose(mine.scores, other.scores, atol=1e-6)


def test_it_holds_what_it_was_built_of(place: Path | None) -> None:
    documents = [
        *zoo(50),
        document("搜索 工具/\ud800", "搜索"),
        ToolDocument(name="bare"),
        document("getZebraCount"),
    ]
    done: list[int] = []
    index = ToolIndex.build(documents, folder=place, embedder=BagOfWords(), watch=done.append)
    assert dict(index.documents) == {document.name: document for document in documents}
    assert list(index.names) == [document.name for document in documents]
    assert index.folder == place
    assert "tool_99" not in index.documents
    assert done[-1] == 53
    assert found(index.lexical, "fox in Oslo", n=1) == found(index.dense, "fox in Oslo", n=1)
    assert found(index.lexical, "zebras") == ["getZebraCount"]
    scores = index.lexical.scores(QUERIES)
    np.testing.assert_allclose(index.lexical.scores(QUERIES, np.array([7, 3])), scores[:, [7, 3]])
    assert ToolIndex.build(zoo(3)).dense is None


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([document("a"), document("b"), document("a", "other")], "two documents are named 'a'"),
        ([document("a"), ToolDocument(name="", description="nameless")], r"no name \('nameless'\)"),
    ],
)
def test_a_name_stands_for_one_tool(
    tmp_path: Path, documents: list[ToolDocument], message: str
) -> None:
    ToolIndex.build(zoo(5), folder=tmp_path)
    with pytest.raises(ValueError, match=message):
        ToolIndex.build(documents, folder=tmp_path)
    assert sorted(ToolIndex(DocumentStore(tmp_path)).names) == sorted(tool.name for tool in zoo(5))


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    embedder = BagOfWords()
    ToolIndex.build(zoo(100), folder=tmp_path, embedder=embedder)
    wanted = [document("tool_3", "counts yaks"), *zoo(100)[5:], document("zebras", "counts zebras")]
    embedder.asked.clear()
    index = ToolIndex.build(wanted, folder=tmp_path, embedder=embedder)
    assert len(embedder.asked) == 2
    assert dict(index.documents) == {tool.name: tool for tool in wanted}
    same_ranking(index, ToolIndex.build(wanted, embedder=BagOfWords()))
    embedder.asked.clear()
    same_ranking(ToolIndex(DocumentStore(tmp_path), embedder=embedder), index)
    assert embedder.asked == []
    assert ToolIndex(DocumentStore(tmp_path)).dense is None  # by words no embedder is needed
    assert len(list(tmp_path.glob("words-*"))) == len(list(tmp_path.glob("vectors-*"))) == 1


DOCUMENTS = st.dictionaries(
    st.sampled_from([f"tool_{i}" for i in range(8)]),
    st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "fox", "Oslo", "Lima"]), max_size=4).map(
        " ".join
    ),
    max_size=6,
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(states=st.lists(DOCUMENTS, min_size=2, max_size=4))
def test_a_changed_index_ranks_like_a_fresh_one(
    states: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("index")
    for texts in states:
        documents = [document(name, text) for name, text in texts.items()]
        index = ToolIndex.build(documents, folder=place, embedder=BagOfWords())
        assert dict(index.documents) == {document.name: document for document in documents}
        same_ranking(index, ToolIndex.build(documents, embedder=BagOfWords()))


def test_an_embedding_outage_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Down(BagOfWords):
        left = 2

        def embed(self, texts: object) -> object:  # type: ignore[override]
            self.left -= 1
            if self.left < 0:
                raise RetrievalUnavailable("the endpoint is down")
            return super().embed(texts)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "_BLOCK", 10)
    embedder = Down()
    with pytest.raises(RetrievalUnavailable, match="down"):
        ToolIndex.build(zoo(50), folder=tmp_path, embedder=embedder)
    assert len(embedder.asked) == 20
    embedder.left = 99
    same_ranking(
        ToolIndex.build(zoo(50), folder=tmp_path, embedder=embedder),
        ToolIndex.build(zoo(50), embedder=BagOfWords()),
    )
    assert len(embedder.asked) == 50


@pytest.mark.parametrize("harm", ["cut", "empty", "gone", "other"])
def test_damaged_derived_data_is_rebuilt(tmp_path: Path, harm: str) -> None:
    whole = ToolIndex.build(zoo(50), embedder=BagOfWords())
    ToolIndex.build(zoo(50), folder=tmp_path, embedder=BagOfWords())
    for path in [path for path in tmp_path.rglob("*") if path.parent != tmp_path]:
        data = path.read_bytes()
        match harm:
            case "cut":
                path.write_bytes(data[: len(data) // 2])
            case "empty":
                path.write_bytes(b"")
            case "gone":
                path.unlink()
            case _:
                path.write_bytes(b"something else altogether")
        embedder = BagOfWords()
        same_ranking(ToolIndex(DocumentStore(tmp_path), embedder=embedder), whole)
        assert embedder.asked == []  # the vectors stand in the file


def test_changed_texts_rebuild_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ToolIndex.build(zoo(5), folder=tmp_path)
    monkeypatch.setattr(index_module, "words_text", lambda document: f"yak {document.name}")
    assert len(found(ToolIndex(DocumentStore(tmp_path)).lexical, "yak")) == 0
    index_module.index_fingerprint.cache_clear()
    assert len(found(ToolIndex(DocumentStore(tmp_path)).lexical, "yak")) == 5
    index_module.index_fingerprint.cache_clear()


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database, not at all " * 50)
    with pytest.raises(
        RetrievalUnavailable, match=r"tools.sqlite' cannot be used: .+; free the file"
    ):
        ToolIndex.build(zoo(3), folder=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="file"):
        ToolIndex.build(zoo(3), folder=tmp_path / "file")


def test_an_index_stays_whole_under_concurrent_changes(tmp_path: Path) -> None:
    first = ToolIndex.build(zoo(50), folder=tmp_path, embedder=BagOfWords())
    ToolIndex.build(zoo(10), folder=tmp_path, embedder=BagOfWords())
    same_ranking(first, ToolIndex.build(zoo(50), embedder=BagOfWords()))
    assert first.documents["tool_3"] == zoo(50)[3]
    assert first.documents["tool_30"] == ToolDocument(name="tool_30")  # its record has gone


def test_concurrent_builds_leave_one_whole_index(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from atc.pipeline.retrieve.index import ToolIndex\n"
        "from tests.labs.rankers import BagOfWords, zoo\n"
        "ToolIndex.build(zoo(int(sys.argv[2])), folder=Path(sys.argv[1]), embedder=BagOfWords())\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen([*command, str(count)], cwd=ROOT) for count in (300, 200)]
    assert [process.wait(PATIENCE) for process in running] == [0, 0]
    index = ToolIndex(DocumentStore(tmp_path), embedder=BagOfWords())
    assert len(index.names) in (200, 300)
    same_ranking(index, ToolIndex.build(zoo(len(index.names)), embedder=BagOfWords()))


def test_many_documents_go_through_inverted_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("faiss")
    for module in (dense, index_module):
        monkeypatch.setattr(module, "EXACT_ROWS", 1_000)
    embedder = BagOfWords()
    exact = ToolIndex.build(zoo(900), embedder=embedder)
    many = ToolIndex.build(zoo(2_000), folder=tmp_path, embedder=embedder)
    again = ToolIndex(DocumentStore(tmp_path), embedder=embedder)
    for index in (many, again):
        assert index.dense is not None
        assert index.dense.vectors.dtype == np.float16
        ranked = index.dense.top(["counts the fox in Oslo"], n=3)[0]
        [best] = exact.dense.top(["counts the fox in Oslo"], n=1)  # type: ignore[union-attr]
        assert ranked.scores[0] == pytest.approx(best.scores[0], abs=1e-3)
