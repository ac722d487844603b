# tools: bfcl
# expect: none-value line 19
# fault: Where there are quotes the helper makes a sorted dict without returning it, so its value is None and None has no items().
def best_quotes(origin: str, target: str, day: str) -> dict:
    quotes = {}
    for cabin in ("economy", "business", "first"):
        answer = get_flight_cost(
            travel_from=origin, travel_to=target, travel_date=day, travel_class=cabin
        )
        costs = answer.get("travel_cost_list", [])
        if costs:
            quotes[cabin] = min(costs)
    if not quotes:
        return {}
    dict(sorted(quotes.items(), key=lambda pair: pair[1]))


quotes = best_quotes("SFO", "LAX", "2024-11-15")
for cabin, cost in quotes.items():
    print(f"{cabin:<10}{cost:>10.2f}")
if not quotes:
    print("No fares found.")
