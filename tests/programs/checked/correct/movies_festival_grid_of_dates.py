# tools: movies
# expect: none
# why: dates are made with isoformat; a list of lists is transposed; hall is plain text and may be outside of the known ones
from datetime import date, timedelta

HALLS = ["red", "blue", "garden"]
first = date(2027, 6, 4)
days = [(first + timedelta(d)).isoformat() for d in range(10)]

grid = [[0] * len(HALLS) for _ in days]
for row, day in zip(grid, days):
    for s in list_screenings(date=day):
        if s["hall"] in HALLS:
            row[HALLS.index(s["hall"])] += 1

for hall, column in zip(HALLS, map(list, zip(*grid))):
    free = sum(3 - used for used in column)
    print(f"{hall:>6}: {free} free; full on {[d[-2:] for d, used in zip(days, column) if used >= 3]}")
