# tools: places
# expect: none
# why: texts of the form YYYY-MM-DDTHH:00 parsed with %M for the two zeros; subtraction is between datetimes, sum() starts from a timedelta
from datetime import datetime, timedelta

parse = lambda text, form="%Y-%m-%dT%H:%M": datetime.strptime(text, form)

lives: dict[str, timedelta] = {}
for storm in list_season_storms(season=1995):
    full = get_storm(storm_id=storm["storm_id"])
    lives[storm["name"]] = parse(full["last_time"]) - parse(full["first_time"])

if lives:
    mean_life = sum(lives.values(), timedelta()) / len(lives)
    longest = max(lives, key=lives.__getitem__)
    print(f"mean {mean_life.total_seconds() / 86400:.1f} days")
    print(f"{longest}: {lives[longest].days} days, {lives[longest].seconds // 3600} h")
