"""A process that dies at its nth write: before it reaches the server, or before the answer."""

WRITES = frozenset(
    {
        "bulk_write",
        "delete_many",
        "delete_one",
        "find_one_and_update",
        "insert_many",
        "insert_one",
        "update_many",
        "update_one",
    }
)


class Killed(BaseException):
    """Nothing survives it."""


class Knife:
    """Counts the writes of one store, and ends it at one of them."""

    def __init__(self, at, *, answered):
        self.at = at
        #: The server did it, and nobody heard of that.
        self.answered = answered
        self.writes = 0

    @property
    def is_dead(self):
        return self.writes >= self.at

    def put_to(self, store):
        for name, value in vars(store.client.database).items():
            # What a bell says is a hint, and is said beside the operation.
            if type(value).__name__ == "AsyncCollection" and name != "bell":
                setattr(store.client.database, name, Cut(value, self))


class Cut:
    """A collection whose writes the knife counts."""

    def __init__(self, collection, knife):
        self._collection = collection
        self._knife = knife

    def __getattr__(self, name):
        method = getattr(self._collection, name)
        if self._knife.is_dead:
            raise Killed
        if name not in WRITES:
            return method

        async def write(*args, **options):
            knife = self._knife
            if knife.is_dead:
                raise Killed
            knife.writes += 1
            if knife.is_dead and not knife.answered:
                raise Killed
            answer = await method(*args, **options)
            if knife.is_dead:
                raise Killed
            return answer

        return write
