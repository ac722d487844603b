# tools: baseball
# expect: none
import calendar

player = get_player(player_id="pl_a2b3c")
year, month, day = (player[f"birth_{part}"] for part in ("year", "month", "day"))
if month and day:
    print(calendar.month_name[month], day, year if year is not None else "")
place = ", ".join(filter(None, (player["birth_city"], player["birth_state"], player["birth_country"])))
print(place or "unknown")
