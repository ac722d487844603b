# tools: bfcl:travel_booking
# kind: list compared with number
# expect: wrong-operand line 17
BUDGET = 900

def fare(origin, target, day):
    answer = get_flight_cost(
        travel_from=origin, travel_to=target, travel_date=day, travel_class="economy"
    )
    return answer["travel_cost_list"]

options = {}
for day in ["2024-12-20", "2024-12-21", "2024-12-22"]:
    for target in ("LHR", "CDG"):
        options[(target, day)] = fare("JFK", target, day)

within = [where for where, price in options.items() if price <= BUDGET]
print(within or "nothing under budget")
