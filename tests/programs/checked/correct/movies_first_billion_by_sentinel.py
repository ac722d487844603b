# tools: movies
# expect: none
# why: next has a sentinel object as default which is tested by 'is'; the generator goes on from where next left it
from itertools import count, islice

MISSING = object()


def releases():
    for page in count(1):
        data = list_box_office(page=page, page_size=10)
        yield from data["releases"]
        if page >= data["pages"]:
            break


figures = (get_box_office(box_office_id=r["box_office_id"]) for r in releases())
big = (b for b in figures if b["worldwide_gross_usd"] >= 10**9)
first = next(big, MISSING)
if first is MISSING:
    print("None took a billion")
else:
    later = [get_film(film_id=b["film_id"])["title"] for b in islice(big, 2)]
    print(get_film(film_id=first["film_id"])["title"], *later, sep=", then ")
