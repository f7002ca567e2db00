"""An integration with Django that breaks a promise."""

from tickwell.contrib.django.transactions import TransactionalBlocking


def beside_the_transaction(patches):
    """Runs are recorded on a connection of their own, whatever block asks for them."""
    patches.setattr(TransactionalBlocking, "_in_transaction", lambda self: None)
