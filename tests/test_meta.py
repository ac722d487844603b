"""The face of the package."""

import subprocess
import sys

import atc


def test_all_is_sorted_and_every_name_is_there():
    assert sorted(atc.__all__) == atc.__all__
    assert all(getattr(atc, name).__name__ == name for name in atc.__all__)


def test_import_is_cheap_and_silent(tmp_path):
    heavy = ("openai", "requests", "numpy", "jsonschema_rs", "click")
    code = f"import atc, sys; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_file_that_hides_a_floor_is_named_in_one_sentence(tmp_path):
    (tmp_path / "protocols.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "import atc"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "atc needs its own 'protocols'" in done.stderr.splitlines()[-1]
    assert str(tmp_path / "protocols.py") in done.stderr
