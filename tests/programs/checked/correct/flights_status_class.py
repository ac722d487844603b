# tools: flights
# expect: none
from dataclasses import asdict, dataclass
from enum import Enum


class Outcome(str, Enum):
    LANDED = "landed"
    DIVERTED = "diverted"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Result:
    label: str
    outcome: Outcome
    late: int | None = None

    @classmethod
    def of(cls, flight):
        state = get_flight_status(flight_id=flight["flight_id"])
        return cls(f"{flight['airline']}{flight['flight_number']}", Outcome(state["status"]), state["arrival_delay_minutes"])


flights = list_arrivals(destination="SFO", date="2013-02-14", page_size=8)["flights"]
results = [Result.of(f) for f in flights]
groups = {o: [r for r in results if r.outcome is o] for o in Outcome}
for outcome, members in groups.items():
    print(f"{outcome.value:<10}", len(members), end="; ")
print()
landed = sorted((asdict(r) for r in groups[Outcome.LANDED] if r.late is not None), key=lambda r: r["late"])
print("latest: {label}, {late} min".format_map(landed[-1]) if landed else "nobody landed")
