# tools: flights
# expect: none
from statistics import mean, median

rows = list_departure_delays(origin="LGA", date="2013-02-08", min_delay_minutes=1)["flights"]
minutes = [row["departure_delay_minutes"] for row in rows if row["departure_delay_minutes"] is not None]
if minutes:
    print(f"{mean(minutes):.1f} {median(minutes)} {max(minutes)}")
else:
    print("no delays")
