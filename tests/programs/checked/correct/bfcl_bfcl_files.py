# tools: bfcl
# expect: none
names = ls(a=True)
print(names, pwd(), [n for n in ["a.txt", "b.txt"] if n])
