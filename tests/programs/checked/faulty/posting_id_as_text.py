# tools: bfcl:posting_api
# kind: text for a number after a regex
# expect: wrong-argument-type line 13
import re

hits = search_tweets(keyword="#opensource")["matching_tweets"]
log = [f"{h['id']}|{h['username']}" for h in hits if "python" in h["content"].lower()]
answered = {}
for entry in log:
    ident, _, author = entry.partition("|")
    if not re.fullmatch(r"\w+", author):
        continue
    reply = comment(tweet_id=ident, comment_content=f"Thanks @{author}!")
    answered[author] = reply["comment_status"]
print(answered)
