"""Charts: counts and queue depths over time, recorded for the dashboard."""
