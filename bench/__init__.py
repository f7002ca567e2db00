"""Measures Tickwell against limits and peers in the same run: `python -m bench --help`."""
