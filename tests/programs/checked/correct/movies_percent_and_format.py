# tools: movies
# expect: none
row = "%(title)-30s %(year)4d"
for film in search_films(title="Dracula", limit=5):
    print(row % film, "{title}/{year}".format(**film), "{0[title]!r:>20}".format(film))
    print("%s%%" % 5, "%5.1f" % (film["year"] / 100), "{:,}".format(film["year"]), "{y:>{w}}".format(y=film["year"], w=8))
    print("{year} {extra}".format(extra=1, **film), "{title}".format_map({**film, "x": 1}))
