# tools: shop
# expect: none
def main():
    order = get_order(order_id=1)
    if order["status"] == "open":
        print("open")
        return
    print("closed")

if __name__ == "__main__":
    main()
