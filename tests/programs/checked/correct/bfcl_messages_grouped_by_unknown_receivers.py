# tools: bfcl
# expect: none
# why: messages is a dict with unknown keys and values; .items() and len() are used on it only where the types were tested.
sent = view_messages_sent().get("messages") or {}
names = {}
for user in list_users().get("user_list", []):
    user_id = get_user_id(user=user).get("user_id")
    if user_id is not None:
        names[user_id] = user

rows = []
for receiver, texts in sent.items():
    texts = texts if isinstance(texts, list) else [texts]
    longest = max(map(str, texts), key=len, default="")
    rows.append((len(texts), names.get(receiver, receiver), longest))

for count, name, longest in sorted(rows, key=lambda r: -r[0]):
    preview = longest if len(longest) <= 40 else longest[:37] + "..."
    print(f"{name}: {count} message{'' if count == 1 else 's'}, e.g. {preview!r}")
print("nothing was sent" if not rows else f"{len(rows)} receivers")
