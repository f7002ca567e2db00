"""Rows of the SQL stores into records, and records into rows."""
