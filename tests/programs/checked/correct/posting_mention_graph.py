# tools: bfcl:posting_api
# expect: none
from collections import Counter, deque

start = get_tweet(tweet_id=1)["username"]
edges, seen, todo = Counter(), {start}, deque([(start, 0)])
while todo:
    user, depth = todo.popleft()
    for tweet in get_user_tweets(username=user)["user_tweets"]:
        for raw in tweet["mentions"]:
            other = raw.lstrip("@")
            edges[user, other] += 1
            if other not in seen and depth < 2:
                seen.add(other)
                todo.append((other, depth + 1))
for (src, dst), n in edges.most_common(5):
    print(f"{src} -> {dst}: {n}")
mutual = {frozenset(e) for e in edges if e[::-1] in edges and e[0] != e[1]}
print(len(mutual), "mutual pairs among", len(seen))
