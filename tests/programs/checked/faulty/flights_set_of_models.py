# tools: flights
# kind: objects put in a set
# expect: unhashable line 12
planes = []
page_number = 1
while True:
    page = search_planes(manufacturer="EMBRAER", max_year=1999, page=page_number, page_size=100)
    planes.extend(page["planes"])
    if page_number >= page["pages"]:
        break
    page_number += 1
unique = set(planes)
print(len(unique))
