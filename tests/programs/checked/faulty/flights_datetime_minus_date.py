# tools: flights
# expect: wrong-operand line 10
# fault: strptime gives a datetime, and a datetime minus a date (NEW_YEAR) raises TypeError.
from datetime import date, datetime

NEW_YEAR = date(2013, 1, 1)

def day_number(text):
    moment = datetime.strptime(text, "%Y-%m-%d")
    return (moment - NEW_YEAR).days + 1

dates = get_available_dates()
span = {name: day_number(value) for name, value in dates.items()}
print(f"Data runs from day {span['first_date']} to day {span['last_date']} of the year.")
