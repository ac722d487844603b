# tools: flights
# expect: none-value line 10
# fault: wind_gust_mph is null in hours without gusts, and None cannot be formatted with .1f.
lines = ["hour  wind  gust"]
for hour in range(6, 22, 3):
    w = get_weather(airport="LGA", date="2013-03-06", hour=hour)
    wind = w["wind_speed_mph"]
    shown = f"{wind:.1f}" if wind is not None else "-"
    gust = w["wind_gust_mph"]
    lines.append(f"{hour:>4}  {shown:>4}  {gust:>4.1f}")
print(*lines, sep="\n")
