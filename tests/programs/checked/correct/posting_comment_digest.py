# tools: bfcl:posting_api
# expect: none
def conversation(keyword, *, limit=None):
    for tweet in search_tweets(keyword=keyword)["matching_tweets"][:limit]:
        remarks = get_tweet_comments(tweet_id=tweet["id"])["comments"]
        yield tweet, remarks

digest = {}
for tweet, remarks in conversation("launch", limit=5):
    authors = {r["username"] for r in remarks} - {tweet["username"]}
    digest[tweet["id"]] = {**tweet, "remarks": len(remarks), "authors": sorted(authors)}

if digest:
    top = max(digest.values(), key=lambda d: (d["remarks"], d["id"]))
    text = "Thanks " + " ".join(f"@{a}" for a in top["authors"]) if top["authors"] else "Thanks all"
    posted = post_tweet(content=text, tags=["#launch"], mentions=[f"@{a}" for a in top["authors"]])
    print(posted["id"], posted["content"], "about", top["content"][:40])
else:
    print("quiet day")
