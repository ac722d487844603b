"""Finding airports and airlines by the words that people use for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Cities and common names that the data's own airport names lack, for airports with flights from New York.
ALSO_CALLED = {
    "ACK": "Nantucket Memorial",
    "ANC": "Anchorage",
    "BDL": "Hartford Windsor Locks",
    "BOS": "Boston",
    "BTV": "Burlington Vermont",
    "BUR": "Burbank Hollywood Burbank",
    "BZN": "Bozeman Yellowstone",
    "CAE": "Columbia South Carolina",
    "CMH": "Columbus Ohio John Glenn",
    "CRW": "Charleston West Virginia",
    "CVG": "Covington",
    "DCA": "Washington DC National Reagan",
    "EGE": "Eagle County Vail",
    "EWR": "Newark New Jersey New York City",
    "FLL": "Ft Lauderdale",
    "GRR": "Grand Rapids",
    "GSO": "Greensboro",
    "HDN": "Hayden Steamboat Springs",
    "HOU": "Houston Hobby",
    "IAD": "Washington DC",
    "IAH": "Houston",
    "ILM": "Wilmington North Carolina",
    "JFK": "New York City Kennedy",
    "LAS": "Las Vegas McCarran",
    "LEX": "Lexington",
    "LGA": "New York City LaGuardia",
    "MHT": "Manchester New Hampshire",
    "MKE": "Milwaukee",
    "MSN": "Madison",
    "MSP": "Saint Paul",
    "OKC": "Oklahoma City",
    "OMA": "Omaha",
    "ORF": "Norfolk",
    "ORD": "O'Hare",
    "PBI": "West Palm Beach",
    "PVD": "Providence Rhode Island",
    "PWM": "Portland Maine",
    "PDX": "Portland Oregon",
    "RSW": "Fort Myers",
    "SBN": "South Bend Indiana",
    "SJC": "San Jose",
    "SNA": "Santa Ana Orange County",
    "STL": "Saint Louis",
    "TVC": "Traverse City",
    "TYS": "Knoxville McGhee",
    "XNA": "Northwest Arkansas Fayetteville Bentonville",
}

# Both what is searched and what is searched for are rewritten so; words that tell nothing apart are dropped.
_SHORT = {
    "international": "intl",
    "national": "natl",
    "regional": "rgnl",
    "county": "co",
    "memorial": "mem",
    "municipal": "muni",
    "saint": "st",
    "ft": "fort",
    "airport": "",
    "arpt": "",
    "airlines": "airline",
    "lines": "line",
}


def words(text: str) -> list[str]:
    """The words of a name in plain lower case: `Chicago O'Hare International Airport` → chicago, ohare, intl."""
    plain = re.sub(r"[^a-z0-9]+", " ", re.sub(r"['’.]", "", text.lower())).split()
    return [short for word in plain if (short := _SHORT.get(word, word))]


def search_text(text: str) -> str:
    """What `match` looks in: the words with spaces around each, then all run together (`la guardia`, `laguardia`)."""
    parts = words(text)
    return f" {' '.join(parts)} | {''.join(parts)} "


def match(wanted: Sequence[str], text: str) -> int:
    """How well `words` fit a `search_text`: 3 each stands in it, 2 begins a word, 1 is part of one; 0 not at all."""
    if not wanted:
        return 0
    if all(f" {word} " in text for word in wanted):
        return 3
    if all(f" {word}" in text for word in wanted):
        return 2
    return int(all(word in text for word in wanted) or "".join(wanted) in text.partition("|")[2])
