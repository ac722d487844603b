# tools: bfcl:travel_booking
# kind: nested paths
# expect: missing-key line 5
invoice = retrieve_invoice(access_token="t", booking_id="b")
print(invoice["travel_cost"])
