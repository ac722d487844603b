# tools: flights
# expect: none
from enum import Enum


class Origin(Enum):
    NEWARK = "EWR"
    KENNEDY = "JFK"

    @property
    def label(self):
        return self.name.title()


totals = {origin: list_departures(origin=origin.value, date="2013-03-03")["total"] for origin in Origin}
for origin, total in totals.items():
    print(origin.label, total)
