# tools: baseball
# expect: none
from collections import Counter
from operator import itemgetter

FIELDS = ("games", "at_bats", "hits", "home_runs")
pick = itemgetter(*FIELDS)


class Career:
    __slots__ = ("name", "totals", "teams")

    def __init__(self, query, born):
        found = [p for p in search_players(query=query)["players"] if p["birth_year"] == born]
        (player,) = found[:1]
        self.name, self.totals, self.teams = player["name"], Counter(), []
        for season in list_player_seasons(player_id=player["player_id"]):
            line = get_batting_line(player_id=player["player_id"], team_id=season["team_id"])
            self.totals.update(dict(zip(FIELDS, pick(line))))
            self.teams.append(season["season"])

    def __getitem__(self, key):
        if key == "average":
            return self.totals["hits"] / self.totals["at_bats"]
        return self.totals[key]

    def __str__(self):
        return f"{self.name} ({min(self.teams)}-{max(self.teams)}): {self['hits']} hits, {self['average']:.3f}"


careers = sorted((Career("Joe DiMaggio", 1914), Career("Jackie Robinson", 1919)), key=lambda c: c["home_runs"])
print(*careers, sep="; ")
