# tools: flights
# expect: none
def first_standing(passenger):
    page = 1
    while True:
        result = list_bookings(passenger=passenger, page=page, page_size=10)
        for row in result["bookings"]:
            booking = get_booking(booking_id=row["booking_id"])
            if booking["status"] == "confirmed":
                return booking
        if page >= result["pages"]:
            return None
        page += 1


name = "Olga Unlikely"
booking = first_standing(name)
if booking is None:
    for flight in list_departures(origin="JFK", date="2013-10-01", destination="LAX", from_hour=8)["flights"]:
        if get_flight_status(flight_id=flight["flight_id"])["status"] != "cancelled":
            booking = create_booking(flight_id=flight["flight_id"], passenger=name, seats=2, cabin="business")
            break
    else:
        print("no flight to book")

if booking:
    kinds = ("guide_dog", "wheelchair")
    sent = [request_assistance(booking_id=booking["booking_id"], kind=kind)["kind"] for kind in kinds[:booking["seats"]]]
    print(f"{booking['passenger']} ({booking['cabin']}): {' and '.join(s.replace('_', ' ') for s in sent)}")
