# tools: shop
# expect: none
guess = guess_price(sku="AB-1234")
print(guess["amount"], guess.price, guess["price"] + 1)
