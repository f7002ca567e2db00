"""The audit log: who did what, before and after, from where; chained, so that no entry can go."""
