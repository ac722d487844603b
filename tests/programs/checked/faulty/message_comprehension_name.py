# tools: bfcl:message_api
# kind: name that lives only in a comprehension
# expect: undefined-name line 9
message_login(user_id="USR001")
team = ["Alice", "Bob", "Catherine"]
ids = {person: get_user_id(user=person)["user_id"] for person in team}
sent = []
for member in ids:
    answer = send_message(receiver_id=ids[person], message="Stand-up moved to 10:30")
    if answer["sent_status"]:
        sent.append(member)
print(f"Told {len(sent)} of {len(team)}")
