# tools: shop
# expect: none
# why: print writes into a redirected buffer, and the answer goes out by sys.stdout.write; the IndexError of an empty list is suppressed
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from operator import itemgetter

buffer = StringIO()
with redirect_stdout(buffer):
    for warehouse in sorted(list_warehouses(), key=itemgetter("capacity"), reverse=True):
        print(*itemgetter("code", "city", "capacity")(warehouse), sep="\t")

lines = buffer.getvalue().splitlines()
with suppress(IndexError):
    sys.stdout.write("Largest: " + lines[0].replace("\t", ", ") + "\n")
sys.stdout.write(f"{len(lines)} warehouses\n")
