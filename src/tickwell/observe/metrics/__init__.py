"""Metrics: what is counted, where the numbers live, and how they are shown."""
