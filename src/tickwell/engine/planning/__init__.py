"""Planning: fire due jobs ahead of time, and plan again what an outage missed."""
