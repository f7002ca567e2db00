"""Tickwell: a job scheduler that answers every fire time exactly once, in one process or many."""

__all__: list[str] = []
