# tools: movies
# expect: none
bars = get_score_histogram(film_id="fm_a2b3c")
total = sum(bar["share_percent"] for bar in bars)
for bar in bars:
    share = bar["share_percent"] / total if total else 0
    print(f"{bar['score']:>2} {'#' * round(share * 40)}")
good, bad = [sum(b["share_percent"] for b in bars if (b["score"] > 5) is side) for side in (True, False)]
print("liked" if good > bad else "disliked")
