"""`tickwell store verify`: a store is tried where it is, in a scratch place beside the data.

python -m tickwell.testing.verify    reads `Orders` as one line of JSON on standard input
"""
