"""What functions of the standard library take: the static check knows their kinds of values."""

import pytest

from atc.check import check
from atc.types import Program
from tests.check_lab import SHOP

BEFORE = """
import heapq, itertools, math, random, re, statistics, time
from datetime import date, datetime, timedelta

product = get_product(sku="AB-1234")
text, number, words, rating = product["title"], product["stock"], product["tags"], product["rating"]
"""

WRONG = [
    "math.sqrt(text)",
    "math.floor(product)",
    "math.hypot(number, text)",
    "time.sleep(text)",
    "random.randint(1, text)",
    "date(text, 1, 1)",
    "date(year=text, month=1, day=1)",
    "datetime(2026, 1, text)",
    "timedelta(days=text)",
    "datetime.fromtimestamp(text)",
    "divmod(text, 2)",
    "pow(number, words)",
    "statistics.mean(words)",
    "re.search('a', number)",
    "re.sub('a', 'b', words)",
    "chr(text)",
    "ord(number)",
    "hex(text)",
    "next(words)",
    "next(product)",
    "any(number)",
    "all(x for x in number)",
    "max(text, number)",
    "min(number, words)",
    "isinstance(number, 'int')",
    "text.strip(number)",
    "text.replace(number, 'a')",
    "text.startswith(number)",
    "text.startswith(words)",
    "text.split(number)",
    "text.zfill(text)",
    "enumerate(words, text)",
    "round(2.5, text)",
    "list(itertools.islice(words, text))",
    "heapq.nlargest(words, words)",
    "-text",
    "-words",
    "'x' in number",
    "number not in number",
]

RIGHT = [
    "math.sqrt(number)",
    "math.floor(product['price'])",
    "math.floor(float(text))",
    "time.sleep(number)",
    "date(number, 1, 1)",
    "date(*map(int, text.split('-')))",
    "datetime(2026, 1, number, tzinfo=None)",
    "timedelta(days=number, hours=True)",
    "timedelta(number)",
    "divmod(number, 60)",
    "divmod(timedelta(days=number), timedelta(hours=1))",
    "pow(number, 2)",
    "statistics.mean(len(word) for word in words)",
    "statistics.mean([])",
    "statistics.mode(words)",
    "re.search('a', text)",
    "re.search('a', str(number))",
    "re.sub('a', lambda found: 'b', text)",
    "chr(number)",
    "ord(text[0])",
    "next(iter(words))",
    "next(word for word in words)",
    "next(reversed(words))",
    "any(words)",
    "any(word == 'a' for word in words)",
    "max(number, product['price'])",
    "max(text, 'b')",
    "max(number, text, key=str)",
    "isinstance(number, (int, float))",
    "isinstance(number, int | float)",
    "text.startswith(('a', 'b'))",
    "text.startswith(tuple(words))",
    "text.split(None, number)",
    "text.count('a', 1)",
    "enumerate(words, number)",
    "list(itertools.islice(words, None))",
    "list(itertools.islice(words, 1, None, 2))",
    "round(2.5, None)",
    "-number",
    "~number",
    "-timedelta(days=1)",
    "'x' in text",
    "number in [1]",
]


def said(line: str) -> list[str]:
    return [finding.message for finding in check(Program(f"{BEFORE}print({line})\n"), SHOP) if finding.certain]


@pytest.mark.parametrize("line", WRONG)
def test_a_value_of_another_kind_than_is_taken_is_found(line: str) -> None:
    assert said(line)


@pytest.mark.parametrize("line", RIGHT)
def test_a_value_that_is_taken_is_not(line: str) -> None:
    assert said(line) == []


@pytest.mark.parametrize("handler", ["except TypeError", "except BaseException", "except"])
@pytest.mark.parametrize("line", WRONG)
def test_a_program_that_allows_for_it_knows_what_it_does(line: str, handler: str) -> None:
    tried = f"{BEFORE}try:\n    found = {line}\n{handler}:\n    found = None\nprint(found)\n"
    assert [finding for finding in check(Program(tried), SHOP) if finding.certain] == []


def test_what_is_taken_instead_is_said() -> None:
    assert said("timedelta(days=text)") == ["timedelta() takes a number here, and text is a string. Write float(text)."]
