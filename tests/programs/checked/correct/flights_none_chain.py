# tools: flights
# expect: none
status = get_flight_status(flight_id="a2b3c")
late = status["arrival_delay_minutes"]
text = "unknown" if late is None else "early" if late < 0 else f"{late // 60}:{late % 60:02d} late"
air = status["air_time_minutes"] or 0
print(text, air, -(late or 0), (status["actual_departure"] or "--:--").replace(":", "h"))
if status["status"] == "landed" and status["air_time_minutes"] > 60:
    print(status["arrival_delay_minutes"] + status["departure_delay_minutes"])
