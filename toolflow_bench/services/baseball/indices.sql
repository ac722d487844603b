-- Made after the rows, which is faster. Some players have two stints with one team: a roster has them once.
CREATE TABLE rosters AS SELECT team_id, player_id, season, min(stint) AS stint, sum(games) AS games
    FROM batting GROUP BY team_id, player_id;
CREATE INDEX rosters_teams ON rosters (team_id, player_id);
CREATE INDEX rosters_players ON rosters (player_id, season, stint);
CREATE INDEX players_names ON players (name);
CREATE INDEX batting_lines ON batting (player_id, team_id);
CREATE INDEX batting_teams ON batting (team_id);
CREATE INDEX pitching_teams ON pitching (team_id);
CREATE INDEX pitching_lines ON pitching (player_id, team_id);
CREATE INDEX managing_teams ON managing (team_id, sequence);
CREATE INDEX managing_players ON managing (player_id, team_id);
CREATE INDEX salaries_players ON salaries (player_id, season);
CREATE INDEX ballots_players ON ballots (player_id, year);
CREATE INDEX honours_players ON honours (player_id, season);
CREATE INDEX honours_awards ON honours (award_id, season, league);
CREATE INDEX teams_seasons ON teams (season, league);
CREATE INDEX teams_franchises ON teams (franchise_id, season);
CREATE INDEX home_games_teams ON home_games (team_id);
CREATE INDEX attendances_players ON attendances (player_id, year);
CREATE INDEX attendances_schools ON attendances (school_id, player_id);
CREATE INDEX series_seasons ON series (season);
CREATE INDEX series_players ON series_batting (player_id);
CREATE INDEX series_lines ON series_batting (series_id, player_id);
