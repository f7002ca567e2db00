"""Liveness: heartbeats, and the recovery of what lost workers leave behind."""
