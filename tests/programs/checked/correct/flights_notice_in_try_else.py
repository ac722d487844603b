# tools: flights
# expect: none
# why: fid may be None and is raised away inside try; the nullable delay is replaced by 0 in a walrus and bounded by min before it is an argument; result is bound on every path
legs = find_flights(airline="B6", flight_number=715, date="2013-08-02")
fid = next((leg["flight_id"] for leg in legs), None)
try:
    if fid is None:
        raise LookupError("no such flight")
    status = get_flight_status(flight_id=fid)
except LookupError as error:
    result = str(error)
else:
    if (delay := status["departure_delay_minutes"] or 0) < 1:
        result = "no notice needed"
    else:
        notice = send_delay_notice(flight_id=fid, delay_minutes=min(delay, 2000), channel="sms")
        result = f"notice {notice['notice_id']}: {notice['delay_minutes']} min"
finally:
    watching = [w["note"] for w in list_watches() if w["flight_id"] == fid]
print(result, *(watching or ["not watched"]), sep="; ")
