# tools: bfcl:travel_booking
# kind: key one level too high
# expect: missing-key line 19
auth = authenticate_travel(
    client_id="my_client", client_secret="my_secret", refresh_token="r-91",
    grant_type="read_write", user_first_name="Ada", user_last_name="Byron",
)
token = auth["access_token"]
card = register_credit_card(
    access_token=token, card_number="4111111111111111", expiration_date="12/2027",
    cardholder_name="Ada Byron", card_verification_number=321,
)
booking = book_flight(
    access_token=token, card_id=card["card_id"], travel_date="2025-01-09",
    travel_from="SFO", travel_to="LAX", travel_class="business",
)
if booking["booking_status"]:
    balance = get_credit_card_balance(access_token=token, card_id=card["card_id"])["card_balance"]
    print(f"Booked {booking['booking_id']} for {booking['travel_cost']}; {balance} left")
else:
    print("Booking failed")
