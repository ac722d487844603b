# tools: flights
# expect: none
# why: datetime arithmetic on HH:MM text, with actual_arrival tested for null, and a remainder for flights over midnight
from datetime import datetime, timedelta

CLOCK = "%H:%M"

def gap(planned: str, real: str | None) -> timedelta | None:
    if not real:
        return None
    delta = datetime.strptime(real, CLOCK) - datetime.strptime(planned, CLOCK)
    return delta % timedelta(days=1)

arrivals = list_arrivals(destination="LAX", date="2013-07-22", origin="JFK", page_size=40)["flights"]
gaps = {a["flight_id"]: gap(a["scheduled_arrival"], get_flight_status(flight_id=a["flight_id"])["actual_arrival"]) for a in arrivals}
known = [g for g in gaps.values() if g is not None and g < timedelta(hours=12)]
mean = sum(known, timedelta()) / len(known) if known else timedelta(0)
print(f"{len(known)}/{len(gaps)} late, {mean.total_seconds() / 60:.1f} minutes on average")
