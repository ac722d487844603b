# tools: bfcl:travel_booking
# kind: comparisons
# expect: wrong-operand line 7
total = 0
for source, target in (("SFO", "LAX"), ("LAX", "JFK")):
    answer = get_flight_cost(travel_from=source, travel_to=target, travel_date="2024-11-16", travel_class="economy")
    total += answer["travel_cost_list"]
print(total)
