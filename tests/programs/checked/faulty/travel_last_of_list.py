# tools: bfcl:travel_booking
# kind: indexing
# expect: not-an-object line 5
costs = get_flight_cost(travel_from="SFO", travel_to="JFK", travel_date="2024-11-16", travel_class="business")
print(costs["travel_cost_list"][-1]["cost"])
