CREATE TABLE airlines (code TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE airports (
    code TEXT PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
    altitude_ft INTEGER NOT NULL, utc_offset_hours INTEGER NOT NULL, time_zone TEXT, search TEXT NOT NULL,
    flights INTEGER NOT NULL DEFAULT 0);
CREATE TABLE planes (
    tail_number TEXT PRIMARY KEY, year_built INTEGER, type TEXT NOT NULL, manufacturer TEXT NOT NULL,
    model TEXT NOT NULL, engines INTEGER NOT NULL, seats INTEGER NOT NULL, engine_type TEXT NOT NULL);
CREATE TABLE weather (
    airport TEXT NOT NULL, date TEXT NOT NULL, hour INTEGER NOT NULL, temperature_f REAL, dew_point_f REAL,
    humidity_percent REAL, wind_direction_degrees INTEGER, wind_speed_mph REAL, wind_gust_mph REAL,
    precipitation_inches REAL NOT NULL, pressure_hpa REAL, visibility_miles REAL NOT NULL);
CREATE TABLE flights (
    flight_id TEXT NOT NULL, date TEXT NOT NULL, scheduled_departure TEXT NOT NULL, actual_departure TEXT,
    departure_delay_minutes INTEGER, actual_arrival TEXT, scheduled_arrival TEXT NOT NULL,
    arrival_delay_minutes INTEGER, airline TEXT NOT NULL, flight_number INTEGER NOT NULL, tail_number TEXT,
    origin TEXT NOT NULL, destination TEXT NOT NULL, air_time_minutes INTEGER, distance_miles INTEGER NOT NULL);
CREATE TABLE bookings (
    booking_id TEXT PRIMARY KEY, flight_id TEXT NOT NULL, passenger TEXT NOT NULL COLLATE NOCASE, cabin TEXT NOT NULL,
    seats INTEGER NOT NULL);
