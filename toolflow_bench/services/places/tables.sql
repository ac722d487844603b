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
