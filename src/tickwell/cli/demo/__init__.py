"""`tickwell demo`: a lively example, to look around in."""
