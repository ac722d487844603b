"""The places data as one SQLite file, built once into the cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from toolflow_bench.services.database import Database, insert
from toolflow_bench.services.places.names import telling_words
from toolflow_bench.services.places.sources import geography, storm_rows

DATABASE = Database(name="places", version=1, subject="the places database", megabytes=100)

_TABLES = """
CREATE TABLE storms (
    storm_id TEXT PRIMARY KEY, name TEXT NOT NULL, season INTEGER NOT NULL, first_time TEXT NOT NULL,
    last_time TEXT NOT NULL, first_observation_id TEXT NOT NULL, last_observation_id TEXT NOT NULL,
    folded TEXT NOT NULL);
CREATE TABLE observations (
    observation_id TEXT PRIMARY KEY, storm_id TEXT NOT NULL, time TEXT NOT NULL, latitude REAL NOT NULL,
    longitude REAL NOT NULL, status TEXT NOT NULL, category INTEGER, wind_kt INTEGER NOT NULL,
    pressure_hpa INTEGER NOT NULL, storm_wind_diameter_nmi INTEGER, hurricane_wind_diameter_nmi INTEGER);
CREATE TABLE continents (continent_id TEXT PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL);
CREATE TABLE currencies (currency_id TEXT PRIMARY KEY, code TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE time_zones (time_zone_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE us_states (
    state_id TEXT PRIMARY KEY, name TEXT NOT NULL, postal_code TEXT NOT NULL, fips_code TEXT NOT NULL);
CREATE TABLE counties (state_id TEXT NOT NULL, name TEXT NOT NULL, fips_code TEXT PRIMARY KEY);
CREATE TABLE countries (
    country_id TEXT PRIMARY KEY, name TEXT NOT NULL, iso2 TEXT NOT NULL, iso3 TEXT NOT NULL,
    continent_id TEXT NOT NULL, capital_city_id TEXT, currency_id TEXT, area_km2 INTEGER, population INTEGER,
    calling_code TEXT, folded TEXT NOT NULL);
CREATE TABLE neighbours (country_id TEXT NOT NULL, neighbour_id TEXT NOT NULL,
    PRIMARY KEY (country_id, neighbour_id)) WITHOUT ROWID;
CREATE TABLE cities (
    city_id TEXT PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
    population INTEGER NOT NULL, country_id TEXT NOT NULL, state_id TEXT, time_zone_id TEXT NOT NULL);
CREATE TABLE city_names (folded TEXT NOT NULL, city_id TEXT NOT NULL, PRIMARY KEY (folded, city_id)) WITHOUT ROWID;
CREATE TABLE airfields (
    airfield_id TEXT PRIMARY KEY, name TEXT NOT NULL, icao TEXT NOT NULL, iata TEXT, municipality TEXT,
    country_id TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL, elevation_ft INTEGER NOT NULL,
    time_zone_id TEXT NOT NULL);
CREATE TABLE airfield_words (word TEXT NOT NULL, airfield_id TEXT NOT NULL,
    PRIMARY KEY (word, airfield_id)) WITHOUT ROWID;
CREATE TABLE standing_alerts (
    alert_id TEXT PRIMARY KEY, city_id TEXT NOT NULL, radius_km INTEGER NOT NULL, min_wind_kt INTEGER NOT NULL);
"""
# Made after the rows, which is faster. Those on positions hold all that a search near a point reads.
_INDICES = """
CREATE INDEX storms_names ON storms (folded, season);
CREATE INDEX storms_seasons ON storms (season, first_time);
CREATE INDEX observations_tracks ON observations (storm_id, time, wind_kt, observation_id);
CREATE INDEX observations_times ON observations (time, storm_id);
CREATE INDEX observations_positions ON observations (latitude, longitude, observation_id, storm_id);
CREATE INDEX countries_continents ON countries (continent_id, name);
CREATE INDEX countries_currencies ON countries (currency_id, name);
CREATE INDEX counties_states ON counties (state_id, name);
CREATE INDEX cities_countries ON cities (country_id, name, population);
CREATE INDEX cities_states ON cities (state_id, name, population) WHERE state_id IS NOT NULL;
CREATE INDEX cities_zones ON cities (time_zone_id, name, population);
CREATE INDEX cities_country_zones ON cities (country_id, time_zone_id);
CREATE INDEX cities_positions ON cities (latitude, longitude, population, city_id);
CREATE INDEX airfields_countries ON airfields (country_id, icao, elevation_ft);
CREATE INDEX airfields_positions ON airfields (latitude, longitude, iata, airfield_id);
"""


def places_database(folder: Path | None = None, *, announce: Callable[[str], None] | None = None) -> Path:
    """The places database (about 40 MB), built into `folder` (default: the cache folder) where it is not there yet.

    `announce` gets one sentence before a build, which takes some seconds.

    Raises:
        SourceUnavailable: a wheel is not installed, or the folder cannot be written.
    """
    return DATABASE.build(_fill, folder=folder, announce=announce)


def _fill(connection: sqlite3.Connection) -> None:
    connection.executescript(_TABLES)
    storms, observations = storm_rows()
    insert(connection, "storms", storms)
    insert(connection, "observations", observations)
    tables = geography()
    for table, rows in tables.items():
        insert(connection, table, rows)
    words = {
        (word, identity)
        for identity, name, icao, iata, municipality, *_ in tables["airfields"]
        for word in telling_words(f"{name} {icao} {iata or ''} {municipality or ''}")
    }
    insert(connection, "airfield_words", sorted(words))
    connection.executescript(_INDICES)
