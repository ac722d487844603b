# tools: movies
# expect: none
score = get_film_score(film_id="fm_a2b3c")
mean_score, votes = score.get("mean_score"), score.get("votes") or 0
match (mean_score, votes):
    case (None, _):
        print("no score")
    case (value, count) if count > 1000:
        print("solid", round(value, 1))
    case (value, _):
        print("thin", value)
