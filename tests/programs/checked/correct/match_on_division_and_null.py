# tools: baseball
# expect: none
# why: match with None as value, guards and a literal that is only a division where one exists; every team falls into some case
from collections import defaultdict

groups: defaultdict[str, list[str]] = defaultdict(list)

for season in (1968, 1969):
    for ref in list_season_teams(season=season, league="NL"):
        match get_team(**{k: v for k, v in ref.items() if k == "team_id"}):
            case {"division": None, "name": str(name), "rank": int(rank)}:
                groups[f"{season} (one table)"].append(f"{rank}. {name}")
            case {"division": "E" | "W" as side, "name": name, **rest} if rest["rank"] <= 3:
                groups[f"{season} {side}"].append(f"{rest['rank']}. {name}")
            case {"division": str(other)}:
                groups[f"{season} {other} below"] += ["-"]

for heading, names in groups.items():
    print(heading, *sorted(names), sep="\n  ")
