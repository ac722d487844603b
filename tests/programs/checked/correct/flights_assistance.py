# tools: flights
# expect: none
flight, *others = find_flights(airline="B6", flight_number=701, date="2013-06-20")
assert not others
booking = create_booking(flight_id=flight["flight_id"], passenger="Grace Hopper", seats=2)
request = request_assistance(booking_id=booking["booking_id"], kind="guide_dog")
status = get_flight_status(flight_id=flight["flight_id"])
delay = status["departure_delay_minutes"]
if delay is not None and delay >= 30:
    send_delay_notice(flight_id=flight["flight_id"], delay_minutes=delay, channel="sms")
print(request["request_id"], request["kind"].replace("_", " "), booking["cabin"])
