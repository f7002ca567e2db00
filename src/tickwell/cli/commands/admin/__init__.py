"""Commands about users, projects, keys, secrets, callbacks and the audit log."""
