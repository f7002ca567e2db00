"""`tickwell store verify`: tests a store on its own server, in a scratch store next to the data.

python -m tickwell.testing.verify    reads `Orders` as one line of JSON on standard input
"""
