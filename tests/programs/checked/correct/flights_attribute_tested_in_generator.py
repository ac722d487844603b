# tools: flights
# expect: none
from dataclasses import asdict, dataclass
@dataclass(frozen=True)
class Result:
    label: str
    late: int | None = None
flights = list_arrivals(destination="SFO", date="2013-02-14", page_size=8)["flights"]
results = [Result("a", get_flight_status(flight_id=f["flight_id"])["arrival_delay_minutes"]) for f in flights]
print(sorted(r.late for r in results if r.late is not None))
landed = sorted([asdict(r) for r in results if r.late is not None], key=lambda r: r["late"])
