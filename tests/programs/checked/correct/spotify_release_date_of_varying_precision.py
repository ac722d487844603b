# tools: spotify
# expect: none
# why: release_date has 4, 7 or 10 characters; it is padded before date.fromisoformat, as its precision says
from datetime import date

PADDING = {"year": "-01-01", "month": "-01", "day": ""}

def released(album) -> date | None:
    text = album["release_date"] + PADDING[album["release_date_precision"]]
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None

albums = get_an_artists_albums(id="4Z8W4fKeB5YxbusRsdQVPb", include_groups="album,single", limit=50)["items"]
dated = [(when, a["name"]) for a in albums if (when := released(a)) is not None]
dated.sort()
pauses = [(b[0] - a[0]).days for a, b in zip(dated, dated[1:])]
print(f"longest pause: {max(pauses)} days" if pauses else "fewer than two albums")
