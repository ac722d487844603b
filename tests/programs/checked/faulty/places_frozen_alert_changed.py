# tools: places
# expect: wrong-operand line 26
# fault: Alert is a frozen dataclass, so assigning to its field radius raises FrozenInstanceError.
from dataclasses import dataclass


@dataclass(frozen=True)
class Alert:
    alert_id: str
    city: str
    radius: int
    wind: int

    @property
    def label(self) -> str:
        return f"{self.city}: {self.radius} km, {self.wind} kt"


alerts = [
    Alert(a["alert_id"], get_city(city_id=a["city_id"])["name"], a["radius_km"], a["min_wind_kt"])
    for a in list_storm_alerts()
]
for alert in alerts:
    if alert.radius < 200:
        changed = update_storm_alert(alert_id=alert.alert_id, radius_km=200)
        alert.radius = changed["radius_km"]
    print(alert.label)
