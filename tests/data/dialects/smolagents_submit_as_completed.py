# answer: {1: 'item 1', 2: 'item 2', 3: 'item 3'}
# calls at once: 3
# monty lacks: concurrent.futures
import concurrent.futures

found = {}
with concurrent.futures.ThreadPoolExecutor() as pool:
    futures = {pool.submit(get_item, id=n): n for n in (1, 2, 3)}
    for future in concurrent.futures.as_completed(futures):
        found[futures[future]] = future.result()["name"]
print(found)
