# tools: shop
# expect: none
import functools
import json
from types import SimpleNamespace

get_product = functools.cache(get_product)
print(get_product(sku="AB-1234")["title"], get_product.cache_info().hits)
convert = 3
print(convert + 1)


def get_text(*parts):
    return " ".join(parts)


print(get_text("a", "b"))
order = json.loads(json.dumps(get_order(order_id=1)), object_hook=lambda d: SimpleNamespace(**d))
print(order.status, order.shipping.address.city)
