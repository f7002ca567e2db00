"""The execution state machine of the SQL stores: operations over named statements.

A store brings a `Session` and its own statements under these names, with the same parameters and
columns.
"""
