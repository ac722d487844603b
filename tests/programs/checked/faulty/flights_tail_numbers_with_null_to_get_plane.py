# tools: flights
# expect: none-value line 15
# fault: a departure's tail_number may be null, so tails may hold None, which get_plane does not take.
departures = []
number, pages = 1, 1
while number <= pages:
    board = list_departures(origin="EWR", date="2013-02-08", airline="UA", page=number, page_size=100)
    departures.extend(board["flights"])
    pages = board["pages"]
    number += 1

tails = {d["tail_number"] for d in departures}
seats_by_tail = {}
for tail in tails:
    seats_by_tail[tail] = get_plane(tail_number=tail)["seats"]

largest = max(seats_by_tail.values(), default=0)
print(f"{len(seats_by_tail)} planes, the largest with {largest} seats")
