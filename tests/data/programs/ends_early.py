import sys


def main():
    print("done")
    sys.exit(0)


if __name__ == "__main__":
    main()
print("never")
