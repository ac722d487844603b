# tools: shop
# expect: none
from functools import partial, reduce
to_dollars = partial(convert, source="EUR", target="USD")
prices = [p["price"] for p in search_products(query="go")["items"]]
print(reduce(lambda a, b: a + b, map(lambda p: to_dollars(amount=p), prices), 0))
