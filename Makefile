# `make check` is what CI runs.
.PHONY: check lint format test

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
