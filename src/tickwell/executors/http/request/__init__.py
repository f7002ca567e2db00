"""What is sent: plan, values, secrets, signature and tokens."""
