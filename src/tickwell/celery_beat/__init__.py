"""Schedules of Celery beat, read from code, tables and keys, and translated into jobs."""
