# tools: flights
# kind: functools.partial
# expect: unknown-argument line 7
from functools import partial

at_kennedy = partial(get_weather, airport="JFK", date="2013-01-15")
print(at_kennedy(hr=9)["wind_speed_mph"])
