# tools: places
# expect: none
import csv
import io
import json
from dataclasses import asdict, dataclass, field


@dataclass
class Report:
    country: str
    cities: list[str] = field(default_factory=list)
    extra: dict = field(default_factory=dict)
    people: int = 0

    def add(self, city):
        self.cities.append(city["name"])
        self.people += city["population"]
        self.extra[city["city_id"]] = city["latitude"]


report = Report("Austria")
for found in search_cities(query="Wien") + search_cities(query="Graz"):
    report.add(get_city(city_id=found["city_id"]))
text = json.dumps(asdict(report), ensure_ascii=False)
again = json.loads(text)
print(again["people"], again["cities"][:1])
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["country", "people"])
writer.writeheader()
writer.writerow({"country": report.country, "people": report.people})
print(out.getvalue().splitlines()[0], max(report.extra.values(), default=None))
