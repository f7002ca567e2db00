"""Helpers for testing code that uses Tickwell."""
