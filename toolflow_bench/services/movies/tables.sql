CREATE TABLE films (
    film_id TEXT PRIMARY KEY, title TEXT NOT NULL, year INTEGER NOT NULL, runtime_minutes INTEGER,
    certificate_id TEXT, budget_usd INTEGER, mean_score REAL, votes INTEGER, share_1 REAL, share_2 REAL, share_3 REAL, share_4 REAL, share_5 REAL, share_6 REAL, share_7 REAL, share_8 REAL, share_9 REAL, share_10 REAL,
    title_key TEXT);
CREATE TABLE title_words (word TEXT, film_id TEXT, PRIMARY KEY (word, film_id)) WITHOUT ROWID;
CREATE TABLE certificates (certificate_id TEXT PRIMARY KEY, code TEXT NOT NULL);
CREATE TABLE genres (genre_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE film_genres (
    genre_id TEXT, year INTEGER, film_id TEXT, PRIMARY KEY (genre_id, year, film_id)) WITHOUT ROWID;
CREATE TABLE board (board_id TEXT PRIMARY KEY, film_id TEXT NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL);
CREATE TABLE tags (tag_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE board_tags (
    tag_id TEXT, year INTEGER, board_id TEXT, PRIMARY KEY (tag_id, year, board_id)) WITHOUT ROWID;
CREATE TABLE reviewers (reviewer_id TEXT PRIMARY KEY, member_number INTEGER NOT NULL UNIQUE);
CREATE TABLE reviews (
    review_id TEXT PRIMARY KEY, board_id TEXT NOT NULL, reviewer_id TEXT NOT NULL, stars REAL NOT NULL,
    written_at TEXT NOT NULL, written_on TEXT NOT NULL);
CREATE TABLE places (place_id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE people (
    person_id TEXT PRIMARY KEY, name TEXT NOT NULL, born_on TEXT NOT NULL, place_id TEXT NOT NULL, name_key TEXT);
CREATE TABLE awards (
    award_id TEXT PRIMARY KEY, ceremony_year INTEGER NOT NULL, category TEXT NOT NULL, person_id TEXT NOT NULL,
    film_id TEXT NOT NULL, age_years INTEGER NOT NULL);
CREATE TABLE box_office (
    box_office_id TEXT PRIMARY KEY, film_id TEXT NOT NULL, released_on TEXT NOT NULL,
    opening_weekend_usd INTEGER NOT NULL, domestic_gross_usd INTEGER NOT NULL, worldwide_gross_usd INTEGER NOT NULL);
CREATE TABLE watchlist (item_id TEXT, film_id TEXT, priority TEXT);
CREATE TABLE own_ratings (rating_id TEXT, film_id TEXT, stars INTEGER);
CREATE TABLE screenings (screening_id TEXT, film_id TEXT, hall TEXT, date TEXT, start_time TEXT);
