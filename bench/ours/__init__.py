"""Tickwell, measured: each a process of its own, printing JSON."""
