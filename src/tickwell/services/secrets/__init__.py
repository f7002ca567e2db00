"""Secrets of a project: sealed at rest, opened only when an attempt is sent."""
