# tools: baseball
# expect: none
# why: a small class wraps the dict: attribute access is on the object, __getattr__ looks the key up, and sorting works by __lt__ although dicts could not be sorted.
class Club:
    def __init__(self, data: dict):
        self._data = data

    def __getattr__(self, key):
        try:
            return self._data[key]
        except KeyError:
            raise AttributeError(key) from None

    @property
    def share(self) -> float:
        played = self.wins + self.losses
        return self.wins / played if played else 0.0

    def __lt__(self, other):
        return (self.share, self.name) < (other.share, other.name)


clubs = sorted((Club(get_team(team_id=t["team_id"])) for t in list_season_teams(season=2001)), reverse=True)
for club in clubs[:3]:
    crowd = f"{club.attendance:,}" if club.attendance is not None else "unknown"
    print(f"{club.name:<25} {club.share:.3f} {crowd}")
