# tools: bfcl
# expect: none
# why: messages is a dict of unknown keys; values are tested by isinstance; a set difference over dict keys and a list is right
from collections import Counter

sent = view_messages_sent().get("messages", {})
sizes = Counter()
for receiver, texts in sent.items():
    if not isinstance(texts, list):
        texts = [texts]
    sizes[receiver] += sum(len(str(t).split()) for t in texts)

users = list_users().get("user_list", [])
ids = {user: get_user_id(user=user).get("user_id") for user in users}
silent = set(ids.values()) - sent.keys() - {None}
for receiver, words in sizes.most_common():
    name = next((u for u, i in ids.items() if i == receiver), receiver)
    print(f"{name}: {words} word{'s' * (words != 1)}")
print("never written to:", *sorted(silent)) if silent else print("everyone was written to")
