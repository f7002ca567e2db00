"""Calendars that the jobs of a project share."""
