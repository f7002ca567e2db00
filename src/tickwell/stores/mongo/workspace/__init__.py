"""Operations on several documents at once, without transactions of the server.

An operation reads what it needs into a `Workspace`, lets the memory store change it, and commits
the difference with one compare-and-set per job.
"""
