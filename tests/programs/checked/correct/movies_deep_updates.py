# tools: movies
# expect: none
summary = {"films": [], "by_year": {}, "best": None}
for film in search_films(title="Batman", limit=20):
    score = get_film_score(film_id=film["film_id"])
    row = {**film, "score": score["mean_score"], "votes": score["votes"] or 0}
    row["label"] = f"{row['title']} ({row['year']})"
    summary["films"].append(row)
    summary["by_year"].setdefault(film["year"], []).append(row["label"])
    if row["score"] is not None and (summary["best"] is None or row["score"] > summary["best"]["score"]):
        summary["best"] = row
summary["films"].sort(key=lambda r: (r["score"] is None, -(r["score"] or 0), r["title"]))
print(summary["best"]["label"] if summary["best"] else "-", summary["films"][0]["label"], summary["by_year"])
