# answer: 30.0
# calls at once: 4
# monty lacks: concurrent.futures
from concurrent.futures import ThreadPoolExecutor, wait

pool = ThreadPoolExecutor(4)
futures = [pool.submit(lambda n=n: get_item(id=n)["price"] * 2) for n in range(1, 5)]
done, pending = wait(futures)
assert not pending
print(sum(future.result() for future in futures))
pool.shutdown()
