"""`python -m askem`."""

from askem.cli import main

main()
