-- Made after the rows, which is faster.
CREATE INDEX films_years ON films (year, title, film_id);
CREATE INDEX films_runtimes ON films (year, runtime_minutes, film_id);
CREATE INDEX films_keys ON films (title_key);
CREATE INDEX film_genres_films ON film_genres (film_id);
CREATE UNIQUE INDEX board_films ON board (film_id);
CREATE INDEX board_tags_entries ON board_tags (board_id);
CREATE INDEX reviews_entries ON reviews (board_id, written_on, written_at, review_id, reviewer_id);
CREATE INDEX reviews_reviewers ON reviews (reviewer_id, written_on, written_at, review_id, board_id);
CREATE INDEX people_places ON people (place_id);
CREATE INDEX awards_years ON awards (ceremony_year);
CREATE INDEX awards_people ON awards (person_id);
CREATE INDEX awards_films ON awards (film_id);
CREATE UNIQUE INDEX box_office_films ON box_office (film_id);
