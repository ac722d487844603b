# tools: flights
# expect: used-before-assignment line 11
# fault: booked is assigned in the inner function without nonlocal, so += reads a local name that has no value yet.
def book_party(names, flight_id):
    booked = 0
    confirmed = []

    def book(name, seats=1, cabin="economy"):
        booking = create_booking(flight_id=flight_id, passenger=name, seats=seats, cabin=cabin)
        if booking["status"] == "confirmed":
            booked += booking["seats"]
            confirmed.append(booking["booking_id"])

    for name in names:
        book(name)
    return booked, confirmed


matches = find_flights(airline="B6", flight_number=1015, date="2013-10-05")
if matches:
    seats, ids = book_party(["Ann Lee", "Raj Patel"], matches[0]["flight_id"])
    print(f"{seats} seats booked: {', '.join(ids)}")
else:
    print("No such flight")
