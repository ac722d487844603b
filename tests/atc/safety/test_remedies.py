"""What a message tells a user to do, at a shell and in a Python program."""

import pytest

from atc.safety.remedies import Remedies

OPTIONS = ["--allow-writes close", "--trust 'value=a b'"]
PYTHON = "Allow it with Agent(…, allow_writes=['close'], trust=['value=a b']) and "


@pytest.mark.parametrize(
    ("remedies", "told"),
    [
        (
            Remedies(run="r1"),
            "Allow it with: atc runs resume r1 --allow-writes close --trust 'value=a b'",
        ),
        (Remedies(run=None), "Allow it with --allow-writes close --trust 'value=a b'"),
        (Remedies(run="r1", in_shell=False), f"{PYTHON}agent.resume('r1')"),
        (Remedies(run=None, in_shell=False), f"{PYTHON}agent.run again"),
    ],
)
def test_a_remedy_fits_where_it_is_read(remedies, told):
    assert remedies.allow(OPTIONS) == told


def test_only_a_shell_is_told_of_terminals():
    assert Remedies(run="r1").decide("To decide") == (
        "To decide, run this on a terminal: atc runs resume r1"
    )
    assert Remedies(run="r1", in_shell=False).decide("To decide") == (
        "To decide, give the agent an ask_person and call agent.resume('r1')"
    )
