# tools: bfcl:message_api
# expect: none
from collections import Counter

status = message_get_login_status()
if not status["login_status"]:
    status = message_login(user_id="USR001")
names = {get_user_id(user=name)["user_id"]: name for name in list_users()["user_list"]}
sent = view_messages_sent()["messages"]
per_person = Counter({names.get(uid, uid): len(texts) for uid, texts in sent.items()})
urgent = {}
for hit in search_messages(keyword="urgent")["results"]:
    urgent.setdefault(hit["receiver_id"], []).append(hit["message"])
for uid in sorted(urgent, key=lambda u: per_person[names.get(u, u)], reverse=True):
    reply = send_message(receiver_id=uid, message=f"Following up on {len(urgent[uid])} urgent note(s)")
    print(reply["message_id"] if reply["sent_status"] else f"failed: {reply['message']}")
total, contacts = (get_message_stats()["stats"][k] for k in ("received_count", "total_contacts"))
print(total, contacts, per_person.most_common(1))
