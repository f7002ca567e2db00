"""Processes that count together, and one that dies."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys

from tests.observe.metrics.reports import values_of
from tickwell.observe.metrics.counting import Counting
from tickwell.observe.metrics.definitions import DURATION, RETRIES
from tickwell.observe.metrics.series import UNREAD_WIDTH, Exemplar, Series, remove_abandoned
from tickwell.observe.store_calls import StoreCall

COUNTER = """
import sys
from tickwell.observe.metrics.definitions import RETRIES, STORE_CALLS
from tickwell.observe.metrics.series import Series

series = Series(sys.argv[1])
place = series.index_of(RETRIES, "shop")
for _ in range(int(sys.argv[2])):
    series.values[place] += 1
print("counted", flush=True)
sys.stdin.read()
"""


def counting(folder, count):
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTER, folder, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


def test_what_a_killed_process_counted_stays(tmp_path):
    own, other = Series(str(tmp_path)), Series()
    with own.lock:
        own.values[own.index_of(RETRIES)] += 1
    first, second = counting(tmp_path, 5), counting(tmp_path, 7)
    try:
        assert values_of(own) == {("tickwell_retries_total",): 13}
        first.send_signal(signal.SIGKILL)
        first.wait()
        for _ in range(2):  # it becomes our own, and is not read again
            assert values_of(own) == {("tickwell_retries_total",): 13}
        assert values_of(own, "shop") == {("tickwell_retries_total",): 12}
        files = {path.stem.partition("-")[0] for path in tmp_path.iterdir()}
        assert files == {str(os.getpid()), str(second.pid), "lock"}
        assert values_of(other) == {}
    finally:
        for process in (first, second):
            process.kill()
            process.communicate()
        own.close()


def test_processes_that_are_killed_again_and_again_leave_two_files(tmp_path):
    for _ in range(3):
        process = counting(tmp_path, 1)
        process.kill()
        process.communicate()
    assert len(list(tmp_path.glob("*.values"))) == 1
    own = Series(str(tmp_path))
    assert values_of(own) == {("tickwell_retries_total",): 3}
    own.close()


def test_a_full_disk_stops_no_process(tmp_path):
    """With a hole in the file a write kills, and a key that is not written fails the store call."""
    in_full_folder = f"""
import resource, signal
from tickwell.observe.metrics.definitions import RETRIES
from tickwell.observe.metrics.series import Series

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
before = Series({str(tmp_path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
for series in (before, Series({str(tmp_path)!r})):
    series.values[series.index_of(RETRIES)] += 1
    series.write_exemplars(0.0)
    print(len(series.samples()))
"""
    command = [sys.executable, "-c", in_full_folder]
    # Pipes have no size: what captures the tests' own output is a file.
    assert subprocess.check_output(command, text=True, stderr=subprocess.PIPE) == "1\n1\n"
    [values] = tmp_path.glob("*.values")
    assert values.stat().st_blocks * 512 >= values.stat().st_size  # no holes


def test_damaged_files_and_a_missing_folder_cost_figures_only(tmp_path):
    folder = tmp_path / "metrics"
    folder.mkdir()
    own = Series(str(folder))
    with own.lock:
        own.values[own.index_of(RETRIES)] += 1
    for number, (keys, values) in enumerate(
        [
            ("no json\n", b""),
            ('[1, "tickwell_retries_total", "", []]\n', b"odd"),
            ('[9, "tickwell_retries_total", "", []]\n', b"\0" * 16),
            ('[-1, "tickwell_retries_total", "", []]\n', b"\0" * 16),
            ("7\n", b"\0" * 16),
        ]
    ):
        (folder / f"{number}.keys").write_text(keys)
        (folder / f"{number}.values").write_bytes(values)
    (folder / "no-values.keys").write_text('[1, "tickwell_retries_total", "", []]\n')
    (folder / "bytes.keys").write_bytes(b"\xff\xfe\n")
    assert values_of(own) == {("tickwell_retries_total",): 1}
    assert len(list(folder.glob("*.keys"))) == 1
    shutil.rmtree(folder)
    assert values_of(own) == {("tickwell_retries_total",): 1}
    own.close()


def test_a_process_that_is_stopped_in_the_folder_holds_up_no_other(tmp_path):
    own, other = Series(str(tmp_path)), counting(tmp_path, 5)
    assert values_of(own) == {("tickwell_retries_total",): 5}
    with (tmp_path / "lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert values_of(own) == {("tickwell_retries_total",): 5}
        late = Series(str(tmp_path))  # counts in memory
        with late.lock:
            late.values[late.index_of(RETRIES)] += 1
        assert values_of(late) == {("tickwell_retries_total",): 1}
    other.kill()
    other.communicate()
    own.close()


def test_folders_are_removed_once_all_processes_in_them_have_ended(tmp_path):
    ended, alive, empty = (tmp_path / name for name in ("ended", "alive", "empty"))
    for folder in (ended, alive, empty):
        folder.mkdir()
    (tmp_path / "link").symlink_to(ended)
    killed, other = counting(ended, 1), counting(alive, 1)
    killed.kill()
    killed.communicate()
    remove_abandoned([tmp_path / "link", tmp_path / "missing"])
    assert ended.exists()
    remove_abandoned([ended, alive, empty])
    assert not ended.exists()
    assert alive.exists()
    assert empty.exists()
    other.kill()
    other.communicate()


def test_what_is_too_much_is_left_out(monkeypatch):
    monkeypatch.setattr("tickwell.observe.metrics.series.CAPACITY", UNREAD_WIDTH + 2)
    series = Series()
    for name in ("a", "b", "c", "d"):
        series.values[series.index_of(RETRIES, name)] += 1
    for number in range(DURATION.width):
        series.values[series.index_of(DURATION, "a", ("call",)) + number] += 1
    assert values_of(series) == {("tickwell_retries_total",): 2}


def test_a_histogram_that_is_too_much_is_counted_nowhere(monkeypatch):
    monkeypatch.setattr("tickwell.observe.metrics.series.CAPACITY", UNREAD_WIDTH + 2)
    series = Series()
    series.index_of(RETRIES)
    Counting(series).record(StoreCall("ping", 100.0, None, (), None))
    assert values_of(series) == {}


def test_exemplars_are_written_once_a_second(tmp_path):
    series = Series(str(tmp_path))
    for trace, at in (("a", 10.0), ("b", 10.9), ("c", 11.0)):
        series.exemplars[1] = Exemplar(trace, 0.5, at)
        series.write_exemplars(at)
        [file] = tmp_path.glob("*.exemplars")
        assert json.loads(file.read_text())["1"][0] == {"a": "a", "b": "a", "c": "c"}[trace]
    series.close()
