# tools: flights
# kind: classes
# expect: missing-key line 12
class Board:
    def __init__(self, origin):
        self.origin = origin

    def day(self, date):
        return list_departures(origin=self.origin, date=date)


print(len(Board("JFK").day("2013-05-01")["departures"]))
