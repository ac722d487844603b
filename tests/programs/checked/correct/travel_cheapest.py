# tools: bfcl:travel_booking
# expect: none
token = authenticate_travel(
    client_id="id", client_secret="s", refresh_token="r", grant_type="read_write",
    user_first_name="Ann", user_last_name="Lee",
)["access_token"]
costs = {}
for travel_class in ["economy", "business", "first"]:
    found = get_flight_cost(travel_from="SFO", travel_to="LAX", travel_date="2024-11-16", travel_class=travel_class)
    costs[travel_class] = min(found["travel_cost_list"])
cheapest = sorted(costs, key=lambda c: costs[c])[0]
booked = book_flight(
    access_token=token, card_id="card_1", travel_date="2024-11-16",
    travel_from="SFO", travel_to="LAX", travel_class=cheapest,
)
if "error" in booked:
    print(booked["error"])
elif booked["booking_status"]:
    invoice = retrieve_invoice(access_token=token, booking_id=booked["booking_id"])["invoice"]
    print(invoice["travel_cost"], invoice["travel_date"])
