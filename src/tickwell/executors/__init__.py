"""What carries out an attempt: a call, a webhook."""
