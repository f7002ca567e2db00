"""Limits: on requests, on jobs and their forecast fires, on payloads."""
