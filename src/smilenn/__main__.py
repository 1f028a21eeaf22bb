"""`python -m smilenn` is the `smile` command."""

from smilenn.cli import main

if __name__ == "__main__":
    main()
