# tools: flights
# expect: none
class Walker:
    limit = 3

    def __init__(self, tail_number):
        self.tail_number = tail_number
        self.last = None
        self.seen = []
        self.hops = {}

    def __len__(self):
        return len(self.seen)

    def __iter__(self):
        yield from self.seen

    def step(self, page):
        answer = list_plane_flights(tail_number=self.tail_number, page=page)
        for flight in answer["flights"]:
            if self.last is not None:
                self.hops[self.last["destination"]] = flight["origin"]
            self.last = flight
            self.seen.append(flight)
        return page < answer["pages"] and page < self.limit

    @classmethod
    def of(cls, flight_id):
        flight = get_flight(flight_id=flight_id)
        return cls(flight["tail_number"] or "N14228")

    @staticmethod
    def show(flight):
        return f"{flight['date']} {flight['destination']}"


walker = Walker.of("a2b3c")
page = 1
while walker.step(page):
    page += 1
print(len(walker), [Walker.show(flight) for flight in walker][:3], walker.hops)
if walker.last:
    print(walker.last["flight_id"])
