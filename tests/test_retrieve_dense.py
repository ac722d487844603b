"""The dense ranker: exact and through inverted lists, in memory and from its files, which may be damaged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="the retrieval extra is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from atc.retrieve.base import RetrievalUnavailable  # noqa: E402
from atc.retrieve.best import best  # noqa: E402
from atc.retrieve.dense import Dense, files  # noqa: E402
from atc.retrieve.embedders.distinct import of_length_one  # noqa: E402
from atc.retrieve.embedders.recent import Recent  # noqa: E402
from atc.retrieve.fuse import Hybrid  # noqa: E402


class Compass:
    """Embeds texts of the letters n, e, s, w as the sum of their directions."""

    name, dimensions = "compass", 2

    def documents(self, texts: Sequence[str]):
        ways = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
        sums = [np.sum([ways[letter] for letter in text], axis=0) if text else np.zeros(2) for text in texts]
        return of_length_one(np.array(sums, np.float32).reshape(len(texts), 2))

    queries = documents


class Nobody(Compass):
    name = "nobody"


def compass(*texts: str, names: Sequence[str] | None = None) -> Dense:
    return Dense.build(names or list(texts), texts, Compass())


def found(dense: Dense, view: str | tuple[str, ...], n: int = 10) -> list[str]:
    return [dense.names[position] for position in dense.top([view], n=n)[0].positions]


def clouds(rows: int, dimensions: int = 24, centres: int = 60, seed: int = 1):
    """Vectors in clouds, as texts of some subjects have them."""
    random = np.random.default_rng(seed)
    middles = random.standard_normal((centres, dimensions))
    return of_length_one(
        (middles[random.integers(centres, size=rows)] + 0.5 * random.standard_normal((rows, dimensions))).astype("f4")
    )


def names_of(rows: int) -> list[str]:
    return [f"tool{row:06}" for row in range(rows)]


def test_the_nearest_come_first_with_their_cosines():
    dense = compass("n", "e", "s", "ne")
    ranked = dense.top(["n", "e"], n=3)
    assert [list(one.positions) for one in ranked] == [[0, 3, 1], [1, 3, 0]]
    assert ranked[0].scores.tolist() == pytest.approx([1, 0.5**0.5, 0], abs=1e-6)
    assert dense.scores(["n"]).tolist()[0] == pytest.approx([1, 0, -1, 0.5**0.5], abs=1e-6)
    assert dense.scores(["n", "e"], np.array([3, 2])).tolist() == [
        pytest.approx([0.5**0.5, -1], abs=1e-6),
        pytest.approx([0.5**0.5, 0], abs=1e-6),
    ]


def test_a_view_of_several_texts_is_their_mean_of_length_one():
    dense = compass("n", "e", "ne", "s")
    assert dense.embed([("n", "e"), "ne"]).tolist() == [pytest.approx([0.5**0.5] * 2)] * 2
    assert found(dense, ("n", "e"), n=1) == ["ne"]
    assert dense.embed([("n", "s"), (), ""]).any() == np.False_
    assert dense.embed([]).shape == (0, 2)


def test_a_blank_view_and_an_empty_index_find_nothing():
    dense = compass("n", "e")
    assert found(dense, "") == []
    assert found(dense, ()) == []
    empty = compass()
    assert len(empty) == 0
    assert found(empty, "n") == []
    assert empty.scores(["n"]).shape == (1, 0)


def test_ten_thousand_equal_documents_come_by_name(tmp_path):
    rows = 10_000
    names = names_of(rows)[::-1]
    vector = of_length_one(np.random.default_rng(3).standard_normal((1, 384)).astype("f4"))
    dense = Dense(names, np.repeat(vector, rows, axis=0), Compass())
    for query in (vector, of_length_one(vector + 0.3 * clouds(1, 384))):
        assert [names[position] for position in dense.near(query, n=5)[0].positions] == sorted(names)[:5]


def test_building_tells_how_far_it_is():
    told: list[tuple[int, int]] = []
    Dense.build(names_of(1100), ["n"] * 1100, Compass(), watch=lambda done, total: told.append((done, total)))
    assert told == [(512, 1100), (1024, 1100), (1100, 1100)]


def test_names_and_vectors_must_be_as_many():
    with pytest.raises(ValueError, match="1 names for 2 vectors"):
        Dense(["a"], np.zeros((2, 2), np.float32), Compass())


def test_what_is_saved_is_opened_and_finds_the_same(tmp_path):
    dense = compass("n", "e", "ne")
    dense.save(tmp_path / "dense")
    opened = Dense.open(tmp_path / "dense", names=["n", "e", "ne"], embedder=Compass())
    assert isinstance(opened.vectors.base, np.memmap) or isinstance(opened.vectors, np.memmap)
    assert opened.vectors.tolist() == dense.vectors.tolist()
    assert found(opened, "n") == found(dense, "n") == ["n", "ne", "e"]
    compass("s").save(tmp_path / "dense")  # another index in its place; the opened one still reads the old files
    assert found(opened, "n") == ["n", "ne", "e"]
    assert found(Dense.open(tmp_path / "dense", names=["s"], embedder=Compass()), "n") == ["s"]
    assert not list(tmp_path.glob("**/*.partial"))


def test_an_empty_index_can_be_kept(tmp_path):
    compass().save(tmp_path)
    assert found(Dense.open(tmp_path, names=[], embedder=Compass()), "n") == []


@pytest.fixture
def many(monkeypatch) -> None:
    """A thousand documents are many."""
    pytest.importorskip("faiss", reason="the retrieval extra is not installed")
    monkeypatch.setattr(files, "EXACT_ROWS", 1000)


@pytest.mark.usefixtures("many")
def test_inverted_lists_find_what_comparing_with_all_finds(tmp_path):
    vectors, queries = clouds(6000), clouds(50, seed=2)
    exact = Dense(names_of(6000), vectors, Compass())
    exact.save(tmp_path)
    assert (tmp_path / "lists.faiss").exists()
    opened = Dense.open(tmp_path, names=names_of(6000), embedder=Compass())
    assert opened.vectors.dtype == np.float16
    shares = []
    for true, near in zip(exact.near(queries, n=10), opened.near(queries, n=10), strict=True):
        shares.append(len(set(true.positions) & set(near.positions)) / 10)
        assert near.scores.tolist() == sorted(near.scores.tolist(), reverse=True)
        for position, score in zip(near.positions, near.scores, strict=True):
            assert score == pytest.approx(float(exact.scores_of(queries[len(shares) - 1][None])[0, position]), abs=1e-3)
    assert np.mean(shares) >= 0.95
    assert len(opened.near(queries[:1], n=6000)[0].positions) == 6000  # all of them: no list may hide one
    assert opened.scores_of(queries[:2]) == pytest.approx(exact.scores_of(queries[:2]), abs=1e-3)


@pytest.mark.usefixtures("many")
def test_equal_documents_in_lists_come_by_name_and_blank_views_find_none(tmp_path):
    vectors = np.concatenate([clouds(3000), np.repeat(clouds(1, seed=5), 100, axis=0)])
    names = names_of(3100)[::-1]
    Dense(names, vectors, Compass()).save(tmp_path)
    opened = Dense.open(tmp_path, names=names, embedder=Compass())
    near = opened.near(np.stack([vectors[-1], np.zeros(24, np.float32)]), n=20)
    assert [names[position] for position in near[0].positions] == sorted(names[3000:])[:20]
    assert len(near[1].positions) == 0


@pytest.mark.usefixtures("many")
def test_many_documents_without_faiss_are_refused_when_built(tmp_path, monkeypatch):
    from atc.retrieve import needs

    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    with pytest.raises(RetrievalUnavailable, match=r"an index of 1,001 tools needs 'faiss'; install it with pip"):
        Dense(names_of(1001), clouds(1001), Compass()).save(tmp_path)
    with pytest.raises(RetrievalUnavailable, match="no finished dense index"):
        Dense.open(tmp_path, names=[], embedder=Compass())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def scramble(path: Path) -> None:
    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("damage", [cut, scramble, Path.unlink])
@pytest.mark.parametrize("name", ["vectors.npy", "lists.faiss", "dense.json"])
def test_a_damaged_file_is_said_when_the_index_is_opened(tmp_path, damage, name):
    Dense(names_of(1100), clouds(1100), Compass()).save(tmp_path)
    damage(tmp_path / name)
    with pytest.raises(RetrievalUnavailable, match=r"(damaged .*; build it anew|no finished dense index)"):
        Dense.open(tmp_path, names=names_of(1100), embedder=Compass())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 99}, "has format 99, this version reads 1; build it anew"),
        ({"rows": 7}, "do not belong together"),
        ({"bytes": {}, "dimensions": "2"}, "do not belong together"),
        ({"bytes": None}, "is damaged"),
    ],
)
def test_a_manifest_that_does_not_fit_is_said(tmp_path, change, sentence):
    compass("n", "e").save(tmp_path)
    manifest = tmp_path / "dense.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    with pytest.raises(RetrievalUnavailable, match=sentence):
        Dense.open(tmp_path, names=["n", "e"], embedder=Compass())


def test_an_index_is_opened_with_its_own_embedder_and_names_only(tmp_path, monkeypatch):
    compass("n", "e").save(tmp_path)
    with pytest.raises(RetrievalUnavailable, match="made with the embedder 'compass', not 'nobody'"):
        Dense.open(tmp_path, names=["n", "e"], embedder=Nobody())
    with pytest.raises(RetrievalUnavailable, match="has 2 vectors for 3 tools"):
        Dense.open(tmp_path, names=["n", "e", "s"], embedder=Compass())
    with pytest.raises(RetrievalUnavailable, match="no embedder 'compass'"):
        Dense.open(tmp_path, names=["n", "e"])


def test_vectors_of_another_length_are_refused():
    with pytest.raises(RetrievalUnavailable, match="vectors of length 2, the embedder 'compass' gives 3"):
        compass("n").near(np.ones((1, 3), np.float32), n=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, -np.inf]), max_size=30), st.integers(-1, 40))
def test_the_best_are_a_sorted_prefix_ties_by_name(scores, n):
    names = [f"{(7 * row) % 31:02}" for row in range(len(scores))]
    wanted = sorted((row for row in range(len(scores)) if scores[row] > -np.inf), key=lambda r: (-scores[r], names[r]))
    ranked = best(np.array(scores, np.float32), names, n=n)
    assert ranked.positions.tolist() == wanted[: max(0, n)]
    assert ranked.scores.tolist() == [scores[row] for row in wanted[: max(0, n)]]


def test_names_are_read_of_tied_documents_only():
    class Read(list[str]):
        def __getitem__(self, position):  # type: ignore[override]
            assert position in (1, 2)
            return super().__getitem__(position)

    ranked = best(np.array([3, 2, 2, 1, 0], np.float32), Read("dcbaz"), n=2)
    assert ranked.positions.tolist() == [0, 2]


def test_positions_stand_for_the_documents_that_were_scored():
    ranked = best(np.array([1, 2], np.float32), list("abcdef"), n=5, positions=np.array([5, 3]))
    assert ranked.positions.tolist() == [3, 5]


def test_a_query_is_embedded_once_however_often_it_is_compared():
    asked = []

    class Counting(Compass):
        def queries(self, texts: Sequence[str]):
            asked.append(list(texts))
            return self.documents(texts)

    dense = Dense.build(["n", "e", "s", "ne"], ["n", "e", "s", "ne"], Counting())
    other = compass("n", "e", "s", "ne")
    assert found(dense, "n") == found(other, "n")
    assert dense.scores([("n", "e"), "n"]).tolist() == other.scores([("n", "e"), "n"]).tolist()
    assert asked == [["n"], ["e"]]
    fused = Hybrid([(dense, 0.5), (dense, 0.5)], full=2, pool=3)
    assert [dense.names[place] for place in fused.top(["s"], n=1)[0].positions] == ["s"]
    assert asked == [["n"], ["e"], ["s"]]


def test_only_the_last_texts_are_remembered_and_a_failure_is_not():
    asked: list[str] = []

    def embed(texts: Sequence[str]):
        asked.extend(texts)
        if "bad" in texts:
            raise RetrievalUnavailable("away")
        return np.array([[len(text)] for text in texts], np.float32)

    recent = Recent(embed, most=2)
    assert [row.tolist() for row in recent(["a", "bb", "a"])] == [[1], [2], [1]]
    with pytest.raises(RetrievalUnavailable):
        recent(["a", "bad"])
    recent(["a", "ccc"])
    assert asked == ["a", "bb", "bad", "ccc"]
    recent(["a", "bb"])
    assert asked[4:] == ["bb"]
