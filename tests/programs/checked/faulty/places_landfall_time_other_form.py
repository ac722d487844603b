# tools: places
# expect: never-equal line 10
# fault: time is of the form YYYY-MM-DDTHH:00 (with a T), so it never equals "2005-08-29 12:00" and the observation is never found.
WHEN = "2005-08-29 12:00"

katrina = search_storms(query="Katrina", season=2005, limit=1)
point, page = None, 1
while katrina and point is None:
    track = list_storm_track(storm_id=katrina[0]["storm_id"], page=page)
    point = next((o for o in track["observations"] if o["time"] == WHEN), None)
    if page >= track["pages"]:
        break
    page += 1

if point is None:
    print("No observation at", WHEN)
else:
    o = get_observation(observation_id=point["observation_id"])
    print(f"At {WHEN} UTC it was a {o['status']} with {o['wind_kt']} kt and {o['pressure_hpa']} hPa")
