"""Hints: let the workers of another task queue (Celery) claim and run executions."""
