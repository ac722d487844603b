"""Operations of a service, and parsing and validation of their arguments."""

from toolflow_bench.services.operation import Parameter, complete_arguments, read_texts


def test_arguments_are_parsed_and_completed():
    assert read_texts(
        [Parameter(name="n", schema={"type": "integer"}, required=True)], [("n", "7")]
    ) == {"n": 7}
    assert complete_arguments(
        [Parameter(name="n", schema={"type": "integer", "default": 3})], {}
    ) == {"n": 3}
    assert not Parameter(name="n", schema={"type": "integer"}).allows("x")
