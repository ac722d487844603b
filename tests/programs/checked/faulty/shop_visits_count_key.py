# tools: shop
# kind: plain number read as object in a long way
# expect: not-an-object line 19
from datetime import date, timedelta


def week_of(start):
    return [start + timedelta(days=n) for n in range(7)]


def visits(days):
    counted = {}
    for day in days:
        counted[day.strftime("%A")] = count_visits(day=day.isoformat())
    return counted


def busiest(counted):
    return sorted(counted.items(), key=lambda pair: pair[1]["count"], reverse=True)[0]


name, number = busiest(visits(week_of(date(2024, 3, 4))))
print(f"{name}: {number}")
