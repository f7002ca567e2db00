"""Slots: every fire time of a job with its answer."""
