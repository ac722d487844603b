# tools: spotify
# expect: tool-reassigned line 5
# fault: The name search is bound to a response, an object, and called again as if it were still the tool.
first_choice, second_choice = "Aphex Twin", "Boards of Canada"
search = search(q=first_choice, type=["artist"], limit=1)
left = search["artists"]["items"] if "artists" in search else []

other = search(q=second_choice, type=["artist"], limit=1)
right = other["artists"]["items"] if "artists" in other else []

if left and right:
    a, b = left[0].get("popularity", 0), right[0].get("popularity", 0)
    print(first_choice if a >= b else second_choice)
else:
    print("One of the artists was not found.")
