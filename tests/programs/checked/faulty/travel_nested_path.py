# tools: bfcl:travel_booking
# kind: nested paths
# expect: missing-key line 7
trip = book_flight(
    access_token="t", card_id="c1", travel_date="2024-12-01", travel_from="SFO", travel_to="LAX", travel_class="first"
)
print(trip["booking_id"], trip["booking_history"]["cost"])
