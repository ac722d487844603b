# answer: [1.5, 3.0, 4.5, 6.0, 7.5]
# calls at once: 5
# monty lacks: concurrent.futures
from concurrent.futures import ThreadPoolExecutor


def fetch(number):
    return get_item(id=number)["price"]


with ThreadPoolExecutor(max_workers=5) as pool:
    prices = list(pool.map(fetch, range(1, 6)))
print(prices)
