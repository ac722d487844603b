# tools: bfcl:travel_booking
# kind: .get()
# expect: missing-key line 5
cards = get_all_credit_cards()["credit_card_list"]
print(cards.get("cardholder_name"), cards.get("cvv"))
