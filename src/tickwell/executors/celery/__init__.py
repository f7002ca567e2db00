"""Celery tasks as targets. Celery itself is imported when the first task is sent."""
