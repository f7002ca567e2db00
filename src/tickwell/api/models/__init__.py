"""The shapes of bodies and answers, for the description of the API.

Requests are read by the domain's own documents, which say more about what is wrong; these models
are what OpenAPI shows, and tests see that both agree.
"""
