# tools: flights
# expect: doubled-argument line 9
# fault: settings always holds the key refund, so cancel_booking gets the keyword refund twice: TypeError
defaults = {"refund": "voucher"}


def undo(booking_id, **options):
    settings = defaults | options
    return cancel_booking(booking_id=booking_id, refund="card", **settings)


cancelled = []
for entry in list_bookings(passenger="Ada Moreno", page_size=200)["bookings"]:
    booking = get_booking(booking_id=entry["booking_id"])
    if booking["status"] == "confirmed" and booking["cabin"] == "economy":
        cancelled.append(undo(entry["booking_id"]))
print(f"{len(cancelled)} bookings cancelled, {sum(b['seats'] for b in cancelled)} seats")
