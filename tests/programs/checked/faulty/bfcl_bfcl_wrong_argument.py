# tools: bfcl
# expect: unknown-argument line 5
# expect: unknown-argument line 5
# says: Did you mean 'title'
print(create_ticket(summary="broken", urgency=2)["id"])
