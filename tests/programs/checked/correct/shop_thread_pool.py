# tools: shop
# expect: none
from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(max_workers=4) as pool:
    futures = {pool.submit(get_order, order_id=n): n for n in (1, 2, 3)}
    for future in as_completed(futures):
        print(futures[future], future.result()["status"])
    skus = ["AB-1234", "CD-5678"]
    print([p["title"] for p in pool.map(lambda sku: get_product(sku=sku), skus)])
