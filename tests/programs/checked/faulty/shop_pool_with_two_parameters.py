# tools: shop
# expect: missing-argument line 11
from concurrent.futures import ThreadPoolExecutor


def price(sku, currency):
    return get_product(sku=sku)["price"] * exchange_rates(base="EUR")[currency]


with ThreadPoolExecutor() as pool:
    print(list(pool.map(price, ["AB-1234", "AB-1235"])))
