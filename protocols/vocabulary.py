"""Words of names: of identifiers, of what a caller makes up, of what a tool does."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


ID_WORDS = words(
    "callsign code codes doi ean guid handle hash iata icao id ids imo isbn issn key keys login mmsi no num number"
    " ref sha sku slug symbol tailnum ticker uid uri urn username uuid vin"
)
"""Last words of names that identify something."""

VAGUE = words("code codes guid handle hash id ids key keys name no num number ref slug uid uri urn uuid")
"""Names that say nothing until it is known of what: they are read together with the noun before them."""

WRAPPERS = words(
    "_embedded body collection content contents data edges embedded entries entry hits item items list node nodes"
    " object objects page payload record records response result results row rows value values"
)
"""Fields that hold the answer and name nothing."""

NOT_LINKED = words(
    "access_token after api_key apikey before body callback comment count cursor date datetime day day_number debug"
    " description end exclude expand fields filter format from hour hour_number include kind lang language limit"
    " locale content contents data edits input lines payload summary tree value values message minute month"
    " month_number name note offset order order_by page page_number page_size password per_page pretty q query search"
    " since size sort sort_by start status text time title to token type until user_agent verbose version week_number"
    " year year_number"
)
"""Arguments that a caller makes up, and that no other response yields."""

VERBS = words(
    "a add all and api by cancel check count create delete fetch find for get head in list lookup me my new of on or"
    " patch post put query read remove retrieve search set show the update v1 v2 v3 v4 with"
)
"""Words of tool names and paths that are no nouns."""

SEARCHES = words("q query search term terms keyword keywords text name")
"""Arguments in which one says in words what one looks for."""

POSITIONS = words("lat latitude lng lon long longitude")
"""Numbers that nobody makes up: where something is."""

CHANGES = words(
    "archive cancel change clear close delete disable drop edit enable modify move patch remove rename replace reset"
    " set update"
)
"""First words of tools that change what was there before."""

SENDS = words(
    "deliver dispatch donate forward gift grant invite notify pay payout remit reply send share ship transfer wire"
)
"""Words of tools that send."""

TELLS = words("call email mail message sms text")
"""First words of tools that tell somebody something, where `PERSONS` or nothing follows."""

PAYS = words("bid buy charge deposit donate pay payment refund remit sell transfer wire withdraw")
"""Words of tools that pay."""
