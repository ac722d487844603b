# tools: bfcl
# expect: used-before-assignment line 17
# fault: The name err is deleted at the end of the except block, so reading it after the loop is a NameError whenever a message failed.
receivers = {"Alice": "USR001", "Bob": "USR002", "Catherine": "USR003"}
text = "The meeting has moved to 3 pm."
delivered, failed = [], 0
for person, receiver_id in receivers.items():
    try:
        answer = send_message(receiver_id=receiver_id, message=text)
    except Exception as err:
        failed += 1
    else:
        if answer.get("sent_status"):
            delivered.append(person)
print("Delivered to:", ", ".join(delivered) or "nobody")
if failed:
    print(f"{failed} messages failed, the last one with: {err}")
