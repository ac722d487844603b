"""A check ends soon, whatever the program holds that it is asked about: it runs in the host, beside other clients."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.local import ATC

PROGRAMS = {
    "a list of many objects": f"x = [{'{0: 1},' * 12_000}]\nprint(x)",
    "a list of many tuples": f"x = [{','.join(f'({i}, 1)' for i in range(9000))}]\nprint(x)",
    "tuples that double": "x = (1,)\ny = (1,)\n"
    + "x = (x, x)\ny = (y, y)\n" * 60
    + "print([x, y])",
    "texts that double": "x = 'abcdefgh'\n" + "x = f'{x}{x}'\n" * 60 + "print(x)",
    "a number of many digits": f"x = f'{{0x{'f' * 20_000}}}'\nprint({{0x{'f' * 20_000}: x}}['a'])",
    "a name of outside, read very often": f"x = 1\ndef f():\n print({'x,' * 30_000})\nprint(1)",
    "many keys, read very often": f"d = {{{','.join(f'{i}: 1' for i in range(6000))}}}\nk = input()\n"
    + "d[k]\n" * 9000
    + "print(1)",
    "many functions": f"print([{'lambda: x,' * 9000}])",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_a_check_ends_soon_whatever_the_program_holds(tmp_path, source):
    program = tmp_path / "program.py"
    program.write_text(source)
    limit = [
        "bash",
        "-c",
        'ulimit -v 4000000 -t 25; exec "$@"',
        "bash",
    ]  # of processor time, and of memory
    done = subprocess.run(
        [*limit, sys.executable, *ATC, "check", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr[-500:]
    assert "Traceback" not in done.stderr
