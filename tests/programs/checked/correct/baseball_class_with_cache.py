# tools: baseball
# expect: none
class Team:
    _seen = {}

    def __init__(self, team_id):
        self.team_id = team_id
        for key, value in get_team(team_id=team_id).items():
            setattr(self, key, value)

    @classmethod
    def of(cls, team_id):
        if team_id not in cls._seen:
            cls._seen[team_id] = cls(team_id)
        return cls._seen[team_id]

    @property
    def share(self):
        return self.wins / (self.wins + self.losses)


clubs = [Team.of(t["team_id"]) for t in list_season_teams(season=1984, league="AL")]
top = sorted(clubs, key=lambda c: c.share, reverse=True)[0]
print(top.name, f"{top.share:.3f}", len(Team._seen))
