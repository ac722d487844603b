# tools: movies
# expect: none
# why: tuples that end in dicts go through a heap, but the counter before them is different each time, so dicts are never compared; while/else
import heapq

film = next(iter(search_films(title="Casablanca", to_year=1945)), None)
if film:
    heap = [(-bar["share_percent"], n, bar) for n, bar in enumerate(get_score_histogram(film_id=film["film_id"]))]
    heapq.heapify(heap)
    top = []
    while heap and len(top) < 3:
        *_, bar = heapq.heappop(heap)
        top.append(str(bar["score"]))
    else:
        print(f"{film['title']} ({film['year']}): most often scored {', '.join(top) or 'never'}")
else:
    print("No such film")
