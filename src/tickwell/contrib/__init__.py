"""Integrations with web frameworks; each is imported only by the code that names it."""
