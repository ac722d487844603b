"""Where tests find the checkout, the folder of tests, and their data."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
LABS = TESTS / "labs"
DATA = TESTS / "data"
