# How this project is checked. CONTRIBUTING.md, README.md and CI (.ci/run) refer to these targets.
# Tools are those of .venv, if there is one, else those on the PATH.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: check lint docs test format

check: lint docs test

lint:
	ruff format --check .
	ruff check .
	lint-imports --no-cache --no-logo
	mypy

docs:
	python scripts/reference.py
	zensical build --strict --clean

test:
	pytest -q -n 3 --dist worksteal

format:
	ruff format .
	ruff check --fix .
