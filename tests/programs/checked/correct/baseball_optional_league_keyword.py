# tools: baseball
# expect: none
# why: the league argument is spread from a dict that is empty for None; the enum values come from the values of a mapping.
CHOICES = {"American": "AL", "National": "NL", "all": None}


def teams(season, league=None):
    extra = {"league": league} if league else {}
    return list_season_teams(season=season, **extra)


sizes = {label: len(teams(1901, code)) for label, code in CHOICES.items()}
for label, size in sizes.items():
    print(f"{label:>9}: {size:2d} teams")
print("consistent" if sizes["American"] + sizes["National"] == sizes["all"] else "other leagues played too")
