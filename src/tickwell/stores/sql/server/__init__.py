"""What the stores on a server share: operations over named statements, with rows locked.

A store brings a `Session` and its own statements under these names, with the same parameters and
columns.
"""
