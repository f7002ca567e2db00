"""Executions: requested, cancelled, revived and purged, with their output."""
