# tools: shop
# expect: wrong-argument-type line 7
from functools import reduce


def through(amount, step):
    return convert(amount=amount, source=step[0], target=step[1])


start = {"amount": 5}
print(reduce(through, [("EUR", "USD"), ("USD", "CHF")], start))
