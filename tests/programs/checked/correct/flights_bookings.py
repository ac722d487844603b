# tools: flights
# expect: none
wanted = {"passenger": "Ada Lovelace", "page_size": 200}
first = list_bookings(**wanted)
bookings = first["bookings"] + [
    booking for page in range(2, first["pages"] + 1) for booking in list_bookings(page=page, **wanted)["bookings"]
]
confirmed = [b for b in (get_booking(booking_id=x["booking_id"]) for x in bookings) if b["status"] == "confirmed"]
by_cabin = {cabin: sum(b["seats"] for b in confirmed if b["cabin"] == cabin) for cabin in ("economy", "business")}
print(by_cabin)
if by_cabin["business"] > 2:
    cancel_booking(booking_id=confirmed[-1]["booking_id"], refund="voucher")
