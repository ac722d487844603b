"""Schemas inferred from responses."""

from hypothesis import given as arbitrary
from hypothesis import strategies as st

from probing.infer import infer
from protocols.validate import validator

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@arbitrary(st.lists(JSON, min_size=1, max_size=5))
def test_responses_conform_to_the_inferred_schema(responses):
    schema = validator(infer(responses))
    assert all(map(schema.is_valid, responses))
    assert (
        "id" in infer([{"id": 1}], {"type": "object", "additionalProperties": {}})["properties"]
    ), "`{}` is no map"
