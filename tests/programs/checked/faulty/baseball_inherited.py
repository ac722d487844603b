# tools: baseball
# kind: classes
# expect: missing-key line 15
class Reader:
    def __init__(self, team_id):
        self.team = get_team(team_id=team_id)

    @property
    def name(self):
        return self.team["name"]


class Season(Reader):
    def share(self):
        return self.team["wins"] / self.team["games_played"]


season = Season("tm_a2b3c")
print(season.name, season.share())
