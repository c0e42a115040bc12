"""`python -m tidemark_sdn` is the command `tidemark-sdn`."""

from tidemark_sdn.cli import main

main()
