"""Values of one call are taken from one record where one holds them."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from probing.combine import argument_place, combinations, records_of
from probing.sample import Origin, Sample, Value

FLIGHTS = Sample(
    number=4,
    tool="list_flights",
    arguments={"day": Value("2013-01-02", Origin(kind="given"))},
    response={
        "airport": {"code": "EWR"},
        "flights": [
            {"airline": "UA", "number": 11, "stops": [{"at": "ORD"}]},
            {"airline": "DL", "number": 22, "stops": []},
        ],
    },
)


def values(tool: str, path: str, *found: object, sample: int = 4) -> list[Value]:
    return [Value(value, Origin(kind="response", tool=tool, path=path, sample=sample)) for value in found]


def test_one_record_gives_all_it_has() -> None:
    candidates = {
        "airline": values("list_flights", "flights[].airline", "UA", "DL"),
        "number": values("list_flights", "flights[].number", 22, 11),
    }
    chosen = [{n: v.value for n, v in c.items()} for c in islice(combinations(candidates, records_of(FLIGHTS)), 2)]
    assert chosen == [{"airline": "UA", "number": 11}, {"airline": "DL", "number": 22}]


def test_the_arguments_of_the_call_belong_to_its_records() -> None:
    tool, place = argument_place("list_flights", "day")
    candidates = {
        "day": values(tool, place, "2013-01-01", "2013-01-02"),
        "airline": values("list_flights", "flights[].airline", "DL", "UA"),
    }
    first = next(combinations(candidates, records_of(FLIGHTS)))
    assert (first["day"].value, first["airline"].value) == ("2013-01-02", "UA")


def test_inner_records_know_what_is_around_them() -> None:
    inner = [r for r in records_of(FLIGHTS) if ("list_flights", "flights[].stops[].at") in r.values]
    assert [r.values["list_flights", "flights[].airline"].value for r in inner] == ["UA"]


def test_what_no_record_has_takes_its_best_candidate() -> None:
    candidates = {
        "airline": values("list_flights", "flights[].airline", "DL"),
        "number": values("list_flights", "flights[].number", 22),
        "limit": [Value(5, Origin(kind="generated"))],
    }
    first = next(combinations(candidates, records_of(FLIGHTS)))
    assert {name: value.value for name, value in first.items()} == {"airline": "DL", "number": 22, "limit": 5}


def test_no_candidate_for_one_is_no_combination() -> None:
    assert list(combinations({"a": [Value(1, Origin(kind="generated"))], "b": []}, [])) == []


def test_no_argument_is_one_combination() -> None:
    assert list(combinations({}, records_of(FLIGHTS))) == [{}]


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 4), min_size=1, unique=True), min_size=1))
def test_each_candidate_has_its_turn_and_none_comes_twice(found: dict[str, list[int]]) -> None:
    candidates = {name: [Value(v, Origin(kind="generated")) for v in held] for name, held in found.items()}
    chosen = [tuple(c[name].value for name in found) for c in combinations(candidates, [])]
    assert len(chosen) == len(set(chosen))
    for place, name in enumerate(found):
        assert {combination[place] for combination in chosen} == set(found[name])


def test_what_is_known_to_be_good_stays_while_others_vary() -> None:
    made = Origin(kind="generated")
    candidates = {"repo": [Value(v, made) for v in "RSTU"], "name": [Value(v, made) for v in "abcd"]}
    chosen = [(c["repo"].value, c["name"].value) for c in combinations(candidates, [], held={"repo"})]
    assert chosen[:4] == [("R", "a"), ("R", "b"), ("R", "c"), ("R", "d")]
    assert {repo for repo, _ in chosen} == set("RSTU")
