"""Monitors: jobs that others run, and that report to Tickwell by pings."""
