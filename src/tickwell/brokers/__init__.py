"""Brokers that carry hints to the workers of other task queues."""
