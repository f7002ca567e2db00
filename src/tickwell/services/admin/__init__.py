"""Administration: all that an admin sees to, made from the settings."""
