# tools: baseball
# expect: none
class Career:
    """A player's numbers over all seasons."""

    fields = ("hits", "home_runs", "walks")

    def __init__(self, player_id: str) -> None:
        self.player_id = player_id
        self.totals = dict.fromkeys(self.fields, 0)

    def add(self, line) -> "Career":
        for name in self.fields:
            self.totals[name] += line[name]
        return self

    @property
    def name(self):
        return get_player(player_id=self.player_id)["name"]


career = Career("pl_a2b3c")
for season in list_player_seasons(player_id=career.player_id):
    career.add(get_batting_line(player_id=career.player_id, team_id=season["team_id"]))
print(career.name, career.totals["home_runs"], career.totals)
