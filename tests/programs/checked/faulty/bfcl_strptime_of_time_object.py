# tools: bfcl
# expect: wrong-operand line 7
# fault: get_current_time returns an object with the key "current_time"; strptime needs text and gets a dict.
from datetime import datetime, time, timedelta

now = get_current_time()
clock = datetime.strptime(now, "%I:%M %p")
opening, closing = time(9, 30), time(16, 0)
if opening <= clock.time() < closing:
    left = datetime.combine(clock.date(), closing) - clock
    print(f"The market is open for another {left // timedelta(minutes=1)} minutes.")
else:
    print("The market is closed.")
