"""`python -m learnroute`."""

from learnroute.cli import main

if __name__ == "__main__":
    main()
