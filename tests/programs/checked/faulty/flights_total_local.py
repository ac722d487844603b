# tools: flights
# kind: accumulator of the module changed in a function
# expect: used-before-assignment line 11
seats_total = 0


def count_seats(tail):
    if tail is None:
        return
    plane = get_plane(tail_number=tail)
    seats_total += plane["seats"]


page = search_planes(manufacturer="AIRBUS", min_seats=300, page_size=5)
for plane in page["planes"]:
    count_seats(plane["tail_number"])
print(seats_total)
