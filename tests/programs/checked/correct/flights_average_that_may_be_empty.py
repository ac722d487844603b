# tools: flights
# expect: none
delays = [f["departure_delay_minutes"] for f in list_departure_delays(origin="JFK", date="2013-01-01")["flights"]]
delays = [d for d in delays if d is not None]
print(round(sum(delays) / len(delays), 2) if delays else "none", max(delays, default=0) + 1, sorted(delays)[len(delays) // 2])
