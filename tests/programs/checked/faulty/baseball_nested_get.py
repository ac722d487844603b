# tools: baseball
# kind: .get()
# expect: missing-key line 5
series = get_postseason_series(series_id="se_a2b3c")
print(series.get("winner", {}).get("name"))
