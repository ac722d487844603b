# tools: bfcl:travel_booking
# expect: none
class Session:
    def __init__(self, **who):
        answer = authenticate_travel(grant_type="read_write", **who)
        self.token, self.scope = answer["access_token"], answer["scope"].split()
        self.bookings = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        print("done with", len(self.bookings), "bookings")
        return False

    def book(self, *, card_id, **trip):
        answer = book_flight(access_token=self.token, card_id=card_id, **trip)
        if answer["booking_status"]:
            self.bookings.append(answer["booking_history"])
            return answer["booking_id"]
        return None

who = dict(client_id="c-1", client_secret="s-1", refresh_token="r-1", user_first_name="Ada", user_last_name="Byron")
with Session(**who) as session:
    number = session.book(card_id="card_7", travel_date="2025-02-11", travel_from="OKD", travel_to="LAX", travel_class="first")
    if number is not None:
        invoice = retrieve_invoice(access_token=session.token, booking_id=number)["invoice"]
        purchase_insurance(access_token=session.token, insurance_type="comprehensive", insurance_cost=200, booking_id=number, card_id="card_7")
        print(invoice["travel_cost"], [b["travel_to"] for b in session.bookings])
