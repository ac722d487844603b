"""Comments on arguments and fields."""

from protocols.shapes import Detail, Shapes


def test_each_allowed_format_is_named():
    day = {"type": "string", "format": "date"}
    moment = {"type": "string", "format": "date-time"}
    shapes = Shapes(Detail())
    either = {"type": "string", "anyOf": [day, moment]}
    assert shapes.annotation(either, {}, hint="since") == "str"
    assert shapes.note("since", either, {}) == "YYYY-MM-DD or ISO 8601 date and time"
    several = {"description": "Days.", "anyOf": [day, {"type": "array", "items": day}]}
    assert shapes.annotation(several, {}, hint="days") == "str | list[str]"
    assert shapes.note("days", several, {}) == "Days. (YYYY-MM-DD)"
    assert shapes.note("day", {"anyOf": [day, {"type": "integer"}]}, {}) == ""
