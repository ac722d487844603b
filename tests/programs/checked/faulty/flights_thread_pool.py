# tools: flights
# kind: thread pools
# expect: missing-key line 9
from concurrent.futures import ThreadPoolExecutor

codes = [a["code"] for a in search_airports(query="London")]
with ThreadPoolExecutor(max_workers=4) as pool:
    airports = list(pool.map(lambda code: get_airport(airport=code), codes))
print([airport["altitude"] for airport in airports])
