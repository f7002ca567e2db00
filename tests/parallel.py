"""Run tests in several processes that share one collection: `-p tests.parallel --processes 4`.

The first process imports and collects everything once, then forks. The workers of xdist each
collect for themselves, which takes 8 s of processor time apiece for these 15,000 tests. A worker
takes whole files, one after the other, so that the fixtures of a file are made once.
"""

import gc
import os
import pickle
import selectors
import struct
import threading
import warnings
from contextlib import ExitStack
from itertools import groupby, pairwise
from typing import BinaryIO, cast

import pytest

_LENGTH = struct.Struct("!I")
_FILE = struct.Struct("!H")


def pytest_addoption(parser):
    parser.addoption("--processes", type=int, default=0, help="Number of forked test processes")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: looking for garbage in it takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    config = session.config
    # Errors of the collection, and a mere list of it, are pytest's own business.
    if config.option.processes < 1 or config.option.collectonly or session.testsfailed:
        return None
    files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
    queue = _filled_queue(len(files))
    temporary = config._tmp_path_factory.getbasetemp()
    if threading.active_count() > 1:
        raise RuntimeError(f"An import started a thread, so no process can fork: {_threads()}")
    # What is collected stays: no search for garbage visits it, so hardly a page of it is copied.
    gc.collect()
    gc.freeze()
    streams: list[BinaryIO] = []
    for number in range(config.option.processes):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            for stream in streams:
                stream.close()
            _become_worker(config, Link(config, writing), temporary / f"worker{number}")
            return _work(files, queue)
        os.close(writing)
        streams.append(os.fdopen(reading, "rb"))
    return Gathering(session, queue).run(streams)


def _threads():
    return ", ".join(thread.name for thread in threading.enumerate())


def _filled_queue(count):
    """A pipe with the number of every file: a worker that reads from it takes the next one."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(_FILE.pack(number) for number in range(count)))
    os.close(writing)
    return reading


class Link:
    """Sends what happens in a worker to the process that reports it."""

    def __init__(self, config, pipe):
        self.config = config
        self.pipe = pipe
        self.is_registered = False

    def send(self, kind, *values):
        message = pickle.dumps((kind, values))
        data = _LENGTH.pack(len(message)) + message
        while data:
            data = data[os.write(self.pipe, data) :]

    def pytest_runtest_logstart(self, nodeid, location):
        self.send("start", nodeid, location)

    def pytest_runtest_logreport(self, report):
        serialize = self.config.hook.pytest_report_to_serializable
        self.send("report", serialize(config=self.config, report=report))

    def pytest_runtest_logfinish(self, nodeid, location):
        self.send("finish", nodeid, location)

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        if self.is_registered:  # else it repeats those of the collection
            seen = warning_message
            text = str(seen.message)
            detail = (text, seen.category, seen.filename, seen.lineno)
            self.send("warning", detail, when, nodeid, location)

    def pytest_internalerror(self, excrepr):
        self.send("internal", str(excrepr))


def _become_worker(config, link, temporary):
    config.workerinput = {"workerid": temporary.name}  # plugins leave the summary to the parent
    config.pluginmanager.unregister(name="terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are the parent's
    capture.start_global_capturing()
    temporary.mkdir()
    folders = config._tmp_path_factory
    folders._given_basetemp = folders._basetemp = temporary
    folders._exit_stack = ExitStack()  # the parent cleans up after all
    config.pluginmanager.register(link, "link")
    link.is_registered = True


def _work(files, queue):
    """Run files until none is left; the process then ends as any session of pytest does."""
    items = _next_file(files, queue)
    while items:
        for item, after in pairwise(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        # Taken before the last test ends: fixtures that both files share stay.
        last, items = items[-1], _next_file(files, queue)
        after = items[0] if items else None
        last.config.hook.pytest_runtest_protocol(item=last, nextitem=after)
    return True


def _next_file(files, queue):
    number = os.read(queue, _FILE.size)
    return files[_FILE.unpack(number)[0]] if number else []


class Gathering:
    """Reports what the workers send, until the last of them has ended."""

    def __init__(self, session, queue):
        self.session = session
        self.config = session.config
        self.queue = queue
        self.running = {}  # stream to test
        self.ended = 0

    def run(self, streams):
        if self.config.option.verbose < 1:  # files take turns: dots without their names
            self.config.pluginmanager.getplugin("terminalreporter").showfspath = False
        with selectors.DefaultSelector() as selector:
            for stream in streams:
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    stream = cast(BinaryIO, key.fileobj)
                    if not self._take(stream):
                        selector.unregister(stream)
                        stream.close()
                        os.wait()
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)
        missing = len(self.session.items) - self.ended
        if missing and not self.session.shouldfail:
            self.session.shouldfail = f"{missing} tests did not run to their end"
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        return True

    def _take(self, stream):
        """One message; false at the end."""
        head = stream.read(_LENGTH.size)
        if not head:
            if stream in self.running:
                self._report_crash(*self.running.pop(stream))
            return False
        kind, values = pickle.loads(stream.read(_LENGTH.unpack(head)[0]))
        getattr(self, f"_on_{kind}")(stream, *values)
        if self.session.shouldfail or self.session.shouldstop:
            os.read(self.queue, 1 << 16)  # no worker begins another file
        return True

    def _on_start(self, stream, nodeid, location):
        self.running[stream] = nodeid, location
        self.config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)

    def _on_report(self, stream, data):
        report = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
        self.config.hook.pytest_runtest_logreport(report=report)

    def _on_finish(self, stream, nodeid, location):
        del self.running[stream]
        self.ended += 1
        self.config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)

    def _on_warning(self, stream, detail, when, nodeid, location):
        text, category, file, line = detail
        message = warnings.WarningMessage(text, category, file, line)
        seen = {"warning_message": message, "when": when, "nodeid": nodeid, "location": location}
        self.config.hook.pytest_warning_recorded.call_historic(kwargs=seen)

    def _on_internal(self, stream, text):
        raise RuntimeError(f"A test process failed:\n{text}")

    def _report_crash(self, nodeid, location):
        self.config.hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid, location, {}, "failed", f"The process ended during {nodeid}", "call"
            )
        )
