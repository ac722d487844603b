from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(max_workers=4) as pool:
    futures = {pool.submit(get_item, id=n): n for n in (3, -1)}
    for future in as_completed(futures):
        pass
    print(list(pool.map(lambda n: get_item(id=n)["id"], [5, 6])))
for future, n in futures.items():
    print(n, future.exception() or future.result()["name"])
