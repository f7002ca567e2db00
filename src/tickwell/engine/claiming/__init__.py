"""Claiming: how many executions a worker takes from the store, and from which queues."""
