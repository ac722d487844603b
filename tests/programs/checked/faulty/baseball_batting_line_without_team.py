# tools: baseball
# kind: required argument forgotten in a helper
# expect: missing-argument line 12
class Career:
    def __init__(self, name):
        hit = search_players(query=name)["players"][0]
        self.player_id = hit["player_id"]
        self.name = hit["name"]

    def lines(self):
        for season in list_player_seasons(player_id=self.player_id):
            yield season["season"], get_batting_line(player_id=self.player_id)

    def best(self, field):
        return max(self.lines(), key=lambda pair: pair[1][field])


for name in ("Ted Williams", "Willie Mays"):
    career = Career(name)
    season, line = career.best("home_runs")
    print(f"{career.name}: {line['home_runs']} home runs in {season}")
