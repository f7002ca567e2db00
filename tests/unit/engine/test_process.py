import os
import subprocess
import sys

from tickwell.engine.liveness import process_identity
from tickwell.engine.liveness.process_identity import is_gone, own_process

SAY = (
    "from tickwell.engine.liveness.process_identity import own_process;"
    " print(own_process(), flush=True); input()"
)


def child():
    command = [sys.executable, "-c", SAY]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_process_knows_itself_and_is_there():
    assert own_process() == own_process() != ""
    assert not is_gone(own_process())


def test_one_that_was_killed_is_gone_and_was_not_before():
    with child() as other:
        name = other.stdout.readline().strip()
        assert name != own_process()
        assert not is_gone(name)
        other.kill()
        other.wait()
        assert is_gone(name)


def test_one_that_was_killed_is_gone_before_its_parent_asks_how_it_ended():
    with child() as other:
        name = other.stdout.readline().strip()
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
        assert is_gone(name)


def test_one_whose_first_thread_alone_has_ended_is_there(monkeypatch):
    boot, namespace, _, _ = own_process().split()
    name, began = f"{boot} {namespace} {os.getppid()} 42", 42
    monkeypatch.setattr(process_identity, "_stat", lambda pid: ("Z", 2, began))
    assert not is_gone(name)
    monkeypatch.setattr(process_identity, "_stat", lambda pid: ("Z", 1, began))
    assert is_gone(name)


def test_one_whose_number_another_has_now_is_gone():
    boot, namespace, _, began = own_process().split()
    assert is_gone(f"{boot} {namespace} {os.getpid()} {int(began) - 1}")


def test_of_other_machines_boots_and_containers_nothing_is_said():
    boot, namespace, _, began = own_process().split()
    nobody = 2**22 + 1  # more than Linux ever counts to
    assert is_gone(f"{boot} {namespace} {nobody} {began}")
    assert not is_gone(f"another-boot {namespace} {nobody} {began}")
    assert not is_gone(f"{boot} pid:[1] {nobody} {began}")
    assert not is_gone("")
