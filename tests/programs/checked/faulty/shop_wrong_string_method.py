# tools: shop
# expect: no-attribute line 3
print(get_text(name="intro").splt(" "))
