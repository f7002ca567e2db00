"""Subscribers to events: logs, metrics, traces."""
