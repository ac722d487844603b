# tools: bfcl:math_api
# expect: none
from functools import reduce

def total(*numbers):
    return sum_values(numbers=list(numbers))["result"]

def unwrap(tool):
    return lambda **given: tool(**given)["result"]

times, share, rounded = map(unwrap, (multiply, percentage, round_number))
basket = {"bread": (2, 3.10), "milk": (4, 0.95), "tea": (1, 6.40)}
lines = {name: times(a=n, b=unit) for name, (n, unit) in basket.items()}
whole = total(*lines.values())
for name, line in sorted(lines.items(), key=lambda kv: kv[1], reverse=True):
    print(name, f"{rounded(number=share(part=line, whole=whole), decimal_places=1)}%")
factorial = reduce(lambda acc, n: multiply(a=acc, b=n)["result"], range(1, 6), 1)
root = square_root(number=factorial, precision=4)["result"]
print(factorial, root, total(1, 2, root))
