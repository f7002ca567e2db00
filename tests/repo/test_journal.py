"""The journal of calls is read while other processes write it."""

import io

from tests.processes import journal


class Growing(io.RawIOBase):
    """A file whose last line is whole only after its end was seen."""

    def __init__(self, *pieces):
        self.pieces = [*pieces]

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self.pieces.pop(0) if self.pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def test_a_line_that_is_being_written_ends_the_list(tmp_path, monkeypatch):
    path = tmp_path / "calls"
    writer = journal.Journal(path)
    for number in (1, 2):
        writer.write("begin", "id", number, "job", at=0, slack=0)
    first, second = path.read_bytes().splitlines(keepends=True)
    file = io.BufferedReader(Growing(first + second[:10], b"", second[10:]))
    monkeypatch.setattr(type(path), "open", lambda path, mode: file)
    assert [line.attempt for line in journal.read(path)] == [1]
