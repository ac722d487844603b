# answer: 13.5
# calls at once: 2
import asyncio


async def main():
    first, second = await asyncio.gather(get_item(id=4), get_item(id=5))
    print(first["price"] + second["price"])


if __name__ == "__main__":
    asyncio.run(main())
