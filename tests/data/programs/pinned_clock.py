import random
import time
import uuid
from datetime import date, datetime, timedelta, timezone

print(datetime.now(), datetime.now(timezone.utc).isoformat(), datetime.utcnow() < datetime.now())
print(date.today() + timedelta(days=1), datetime.today().year, repr(datetime.now().replace(microsecond=0)))
print(time.strftime("%Y-%m-%d"), time.localtime().tm_year, type(datetime.now()) is datetime)
before = time.monotonic()
time.sleep(0.01)
print(round(time.monotonic() - before, 3))
print(random.randint(0, 10**6), uuid.uuid4(), uuid.uuid1().version)
