# tools: flights
# expect: not-a-list line 6
# fault: list_bookings gives a page object; iterating it yields its keys (text), which cannot be indexed with 'booking_id'.
def bookings_of(*passengers):
    for passenger in passengers:
        yield from list_bookings(passenger=passenger)

total_seats = 0
for entry in bookings_of("Maria Lopez", "Tom Baker"):
    booking = get_booking(booking_id=entry["booking_id"])
    if booking["status"] != "confirmed":
        continue
    total_seats += booking["seats"]
print(f"Seats still confirmed: {total_seats}")
