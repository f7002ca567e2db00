"""Alerts: rules are evaluated by one process at a time, and their notices are executions."""
