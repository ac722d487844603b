"""Formats of figures."""

from atc.core.pages.formats import (
    dollars,
    interval,
    mean,
    percent,
    points,
    seconds,
    short,
    size,
    whole,
)


def test_figures_have_one_format():
    assert percent(0.625) == "62.5%"
    assert percent(None) == "–"
    assert interval((0.55, 0.69)) == "55–69%"
    assert points(0.042) == "+4.2"
    assert points(-0.042) == "−4.2"
    assert points(-0.0001) == "0.0"
    assert interval((0.551, 0.689)) == "55–69%"
    assert whole(1234) == "1,234"
    assert mean(12.34) == "12.3"
    assert mean(0.25) == "0.25"
    assert short(1500) == "1.5k"
    assert short(2_000_000) == "2M"
    assert seconds(0.008) == "8 ms"
    assert seconds(99.96) == "1 min 40 s"
    assert seconds(200) == "3 min 20 s"
    assert seconds(7505) == "2 h 05 min"
    assert seconds(7500) == "2 h 05 min"
    assert dollars(0.0042) == "$0.0042"
    assert dollars(0.00421) == "$0.00421"
    assert dollars(1.3) == "$1.30"
    assert size(1234) == "1,234 characters"
