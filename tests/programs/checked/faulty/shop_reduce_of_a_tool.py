# tools: shop
# expect: positional-argument line 4
from functools import reduce
print(reduce(convert, [3, "EUR", "USD"]))
