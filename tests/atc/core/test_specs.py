"""Names that are not in a table."""

from atc.core.specs import unknown_name


def test_an_unknown_name_gets_the_nearest():
    assert unknown_name("chian", ["chain", "once"], what="strategy") == (
        "no strategy is named 'chian'; did you mean 'chain'? There is chain, once."
    )
    assert unknown_name("zzz", ["chain"], what="strategy") == (
        "no strategy is named 'zzz'; there is chain."
    )
