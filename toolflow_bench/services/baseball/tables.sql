CREATE TABLE players (
    player_id TEXT PRIMARY KEY, name TEXT NOT NULL, given_name TEXT, birth_year INTEGER, birth_month INTEGER,
    birth_day INTEGER, birth_city TEXT, birth_state TEXT, birth_country TEXT, death_year INTEGER, weight_lb INTEGER,
    height_in INTEGER, bats TEXT, throws TEXT, debut TEXT, final_game TEXT);
CREATE TABLE franchises (franchise_id TEXT PRIMARY KEY, name TEXT NOT NULL, active INTEGER NOT NULL);
CREATE TABLE teams (
    team_id TEXT PRIMARY KEY, season INTEGER NOT NULL, league TEXT NOT NULL, franchise_id TEXT NOT NULL, division TEXT,
    rank INTEGER, games INTEGER NOT NULL, wins INTEGER NOT NULL, losses INTEGER NOT NULL, league_champion TEXT,
    world_series_winner TEXT, runs INTEGER, at_bats INTEGER, hits INTEGER, doubles INTEGER, triples INTEGER,
    home_runs INTEGER, walks INTEGER, strikeouts INTEGER, stolen_bases INTEGER, runs_allowed INTEGER,
    earned_runs INTEGER, complete_games INTEGER, shutouts INTEGER, saves INTEGER, home_runs_allowed INTEGER,
    errors INTEGER, double_plays INTEGER, name TEXT NOT NULL, attendance INTEGER);
CREATE TABLE parks (park_id TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT, state TEXT, country TEXT);
CREATE TABLE home_games (
    team_id TEXT NOT NULL, park_id TEXT NOT NULL, first_date TEXT, last_date TEXT, games INTEGER NOT NULL,
    attendance INTEGER);
CREATE TABLE schools (school_id TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT, state TEXT, country TEXT);
CREATE TABLE attendances (player_id TEXT NOT NULL, school_id TEXT NOT NULL, year INTEGER NOT NULL);
CREATE TABLE batting (
    player_id TEXT NOT NULL, team_id TEXT NOT NULL, season INTEGER NOT NULL, stint INTEGER NOT NULL, games INTEGER,
    at_bats INTEGER, runs INTEGER, hits INTEGER, doubles INTEGER, triples INTEGER, home_runs INTEGER,
    runs_batted_in INTEGER, stolen_bases INTEGER, walks INTEGER, strikeouts INTEGER);
CREATE TABLE pitching (
    player_id TEXT NOT NULL, team_id TEXT NOT NULL, wins INTEGER, losses INTEGER, games INTEGER, games_started INTEGER,
    complete_games INTEGER, shutouts INTEGER, saves INTEGER, outs INTEGER, hits INTEGER, earned_runs INTEGER,
    home_runs INTEGER, walks INTEGER, strikeouts INTEGER);
CREATE TABLE managing (
    player_id TEXT NOT NULL, team_id TEXT NOT NULL, sequence INTEGER NOT NULL, games INTEGER, wins INTEGER,
    losses INTEGER);
CREATE TABLE salaries (
    player_id TEXT NOT NULL, team_id TEXT NOT NULL, season INTEGER NOT NULL, salary_usd INTEGER NOT NULL);
CREATE TABLE ballots (
    player_id TEXT NOT NULL, year INTEGER NOT NULL, voted_by TEXT NOT NULL, ballots INTEGER, needed INTEGER,
    votes INTEGER, inducted TEXT NOT NULL, category TEXT NOT NULL);
CREATE TABLE awards (award_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE honours (player_id TEXT NOT NULL, award_id TEXT NOT NULL, season INTEGER NOT NULL, league TEXT);
CREATE TABLE series (
    series_id TEXT PRIMARY KEY, season INTEGER NOT NULL, round TEXT NOT NULL, winner_team_id TEXT NOT NULL,
    loser_team_id TEXT NOT NULL, wins INTEGER NOT NULL, losses INTEGER NOT NULL, ties INTEGER NOT NULL);
CREATE TABLE series_batting (
    series_id TEXT NOT NULL, player_id TEXT NOT NULL, team_id TEXT NOT NULL, games INTEGER, at_bats INTEGER,
    runs INTEGER, hits INTEGER, home_runs INTEGER, runs_batted_in INTEGER, stolen_bases INTEGER, walks INTEGER,
    strikeouts INTEGER);
CREATE TABLE words (kind TEXT NOT NULL, word TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY (kind, word, id)) WITHOUT ROWID;
