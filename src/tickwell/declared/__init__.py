"""What stands behind the `Scheduler`: declared jobs, lifecycle, hooks, the blocking face."""
