# tools: shop
# expect: positional-argument line 5
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    print([o["status"] for o in pool.map(get_order, [1, 2])])
