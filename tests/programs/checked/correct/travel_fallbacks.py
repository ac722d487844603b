# tools: bfcl:travel_booking
# expect: none
airports = list_all_airports()["airports"]
home = get_nearest_airport_by_city(location="Rivermist")["nearest_airport"]
options = []
for target in [a for a in airports if a != home][:3]:
    for day in range(1, 4):
        date = f"2024-12-{day:02d}"
        try:
            prices = get_flight_cost(travel_from=home, travel_to=target, travel_date=date, travel_class="economy")
        except ToolError:
            continue
        if prices["travel_cost_list"]:
            options.append({"to": target, "date": date, "price": min(prices["travel_cost_list"])})
if options:
    best = min(options, key=lambda o: o["price"])
    euros = compute_exchange_rate(base_currency="USD", target_currency="EUR", value=best["price"])["exchanged_value"]
    print(best["to"], best["date"], f"{best['price']:.0f} USD", round(euros))
