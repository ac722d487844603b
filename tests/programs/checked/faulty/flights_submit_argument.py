# tools: flights
# kind: thread pools
# expect: unknown-argument line 7
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor() as pool:
    jobs = [pool.submit(get_weather, airport="JFK", day="2013-01-01", hour=h) for h in range(3)]
    print([job.result()["temperature_f"] for job in jobs])
