"""Callbacks: what happens to executions, told to an address, by executions like any other."""
