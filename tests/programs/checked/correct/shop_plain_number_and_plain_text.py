# tools: shop
# expect: none
visits = [count_visits(day=f"2024-01-{day:02d}") for day in range(1, 8)]
words = get_text(name="intro").lower().split()
print(sum(visits) / 7, len(words), words[0].strip(".,"), max(visits) - min(visits))
