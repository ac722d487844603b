# `make check` is what CI runs.
.PHONY: check lint format test docs

check: lint test

lint:
	ruff format --check .
	ruff check .
	lint-imports --no-cache --no-logo
	mypy

test:
	pytest

format:
	ruff format .
	ruff check --fix .

docs:
	python scripts/reference.py
	zensical build --strict --clean
