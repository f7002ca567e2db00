"""`python -m tickwell`."""

from tickwell.cli.main import main

main()
