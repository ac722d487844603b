# tools: flights
# expect: none
# why: variables named type, max, id and filter shadow builtins, which are not called afterwards
filter = {"min_year": 2010, "max_year": 2013, "min_seats": 300}
planes = search_planes(**filter, page_size=100)["planes"]
max = 0
type = "?"
for plane in planes:
    id = plane["tail_number"]
    details = get_plane(tail_number=id)
    if details["seats"] > max:
        max, type = details["seats"], f"{plane['manufacturer'].title()} {plane['model']}"
print(f"{type}: {max} seats" if max else "no such plane")
