# tools: bfcl:travel_booking
# expect: none
from itertools import product
from functools import lru_cache
import math

@lru_cache(maxsize=None)
def fare(origin: str, target: str, day: str, cabin: str = "economy") -> float:
    costs = get_flight_cost(travel_from=origin, travel_to=target, travel_date=day, travel_class=cabin)
    return min(costs["travel_cost_list"], default=math.inf)

home = get_nearest_airport_by_city(location="San Francisco")["nearest_airport"]
out_days, back_days = (["2025-03-0%d" % d for d in span] for span in (range(1, 3), range(6, 9)))
targets = [a for a in list_all_airports()["airports"] if a != home][:4]
trips = (
    (fare(home, t, o) + fare(t, home, b), t, o, b) for t, o, b in product(targets, out_days, back_days)
)
price, target, out, back = min(trips)
euros = compute_exchange_rate(base_currency="USD", target_currency="EUR", value=price)["exchanged_value"]
print(f"{target}: {out} to {back}, USD {price:.0f} (EUR {euros:.0f})")
