# tools: movies
# expect: none
from datetime import date, datetime, timedelta

today = date(2027, 6, 5)
week = [today + timedelta(days=n) for n in range(7)]
shown = {day.isoformat(): len(list_screenings(date=day.isoformat())) for day in week}
quiet = min(shown, key=shown.get)
released = date.fromisoformat(get_box_office(box_office_id="bo_a2b3c")["released_on"])
age = today - released
print(quiet, age.days // 365, age > timedelta(days=3650), (datetime.combine(released, datetime.min.time())).year)
print(max(week) - min(week) == timedelta(6), released.replace(year=2000).strftime("%d.%m."), age / timedelta(days=1))
