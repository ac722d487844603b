# `make check` is what CI runs before the tests of the model.
.PHONY: check format test
check:
	ruff format --check .
	ruff check .
	mypy
	pytest

format:
	ruff format .
	ruff check --fix .

test:
	pytest
