-- Made after the rows, which is faster. Those on positions hold all that a search near a point reads.
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
