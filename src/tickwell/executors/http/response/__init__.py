"""What comes back: the stored response, redaction and the verdict."""
