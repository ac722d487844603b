# tools: flights
# expect: none
from concurrent.futures import ThreadPoolExecutor, as_completed

found = {}
with ThreadPoolExecutor() as pool:
    futures = {pool.submit(get_airport, airport=code): code for code in list_destinations(origin="LGA")[:8]}
    for future in as_completed(futures):
        try:
            found[futures[future]] = future.result()
        except ToolError as error:
            print(futures[future], error.status)
print({code: airport["time_zone"] for code, airport in found.items() if airport["altitude_ft"] > 500})
