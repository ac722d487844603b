# tools: places
# kind: named tuples
# expect: no-attribute line 9
from collections import namedtuple

Point = namedtuple("Point", "lat lon")
city = get_city(city_id="ci_a2b3c")
here = Point(city["latitude"], city["longitude"])
print(here.latitude)
