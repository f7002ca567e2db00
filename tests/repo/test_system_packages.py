"""`./run` asks before it installs packages of the system, and leaves nothing else behind."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "system-packages"
FOREIGN = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """One on which this user is root, and apt-get notes what it is asked for."""
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs / "id", "echo 0")
    write_program(programs / "apt-get", f'echo "$@" >>{tmp_path}/asked')
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("POLICY_RC_D", str(tmp_path / "policy"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def write_program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def asked(machine):
    path = machine / "asked"
    return path.read_text().splitlines() if path.exists() else []


def run(*options, **more):
    command = [SCRIPT, *options, "Servers are missing", "redis-server", "curl"]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more
    )


def at_a_terminal(answer, *options):
    ours, its = pty.openpty()
    os.write(ours, answer)
    command = [SCRIPT, *options, "Servers are missing", "redis-server"]
    done = subprocess.run(command, stdin=its, stdout=its, stderr=its, check=False)
    os.close(its)
    shown = b"".join(iter(lambda: read_chunk(ours), b"")).decode()
    os.close(ours)
    return done.returncode, shown


def read_chunk(terminal):
    """The kernel hands over what was written in parts, and answers EIO at the end."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


@pytest.fixture
def default_signals():
    """A shell cannot trap what it inherits as ignored, as from a suite that runs under nohup."""
    before = {
        number: signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_without_a_terminal_it_installs(machine):
    assert run().returncode == 0
    install = "install -y -qq --no-install-recommends redis-server curl"
    assert asked(machine) == ["update -qq", install]
    assert not (machine / "policy").exists()


@pytest.mark.parametrize(
    ("answer", "options", "installs"),
    [(b"n\n", (), False), (b"\n", (), False), (b"y\n", (), True), (b"", ("--yes",), True)],
)
def test_at_a_terminal_it_asks(machine, answer, options, installs):
    code, shown = at_a_terminal(answer, *options)
    assert (code == 0) is bool(asked(machine)) is installs
    assert ("[y/N]" in shown) is (not options)


def test_ci_is_not_asked(machine, monkeypatch):
    monkeypatch.setenv("CI", "true")
    code, shown = at_a_terminal(b"")
    assert code == 0
    assert "[y/N]" not in shown


def test_without_root_it_says_what_to_do(machine):
    write_program(machine / "programs" / "id", "echo 1000")
    done = run()
    assert done.returncode == 1
    assert "As root: apt-get install redis-server curl" in done.stderr
    assert asked(machine) == []


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("default_signals")
def test_an_interrupted_installation_leaves_no_policy(machine, signal_number):
    os.mkfifo(machine / "begun")
    write_program(machine / "programs" / "apt-get", f"echo $$ >{machine}/begun; exec sleep 1000")
    process = subprocess.Popen([SCRIPT, "Servers are missing", "curl"], stdin=subprocess.DEVNULL)
    child = int((machine / "begun").read_text())
    assert (machine / "policy").exists()
    process.send_signal(signal_number)
    try:
        assert process.wait(60) == 128 + signal_number
    finally:
        process.kill()
        process.wait()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert not (machine / "policy").exists()


def test_a_policy_of_the_machine_stays(machine):
    (machine / "policy").write_text(FOREIGN)
    assert run().returncode == 0
    assert (machine / "policy").read_text() == FOREIGN


def test_what_a_killed_one_left_is_removed(machine):
    write_program(machine / "programs" / "apt-get", f"kill -9 $PPID; cat {machine}/policy")
    assert run().returncode == -signal.SIGKILL
    assert (machine / "policy").exists()
    write_program(machine / "programs" / "apt-get", "true")
    assert run().returncode == 0
    assert not (machine / "policy").exists()


def test_a_failed_installation_fails(machine):
    write_program(machine / "programs" / "apt-get", "exit 100")
    assert run().returncode == 100
    assert not (machine / "policy").exists()


def test_the_command_of_the_checkout_uses_the_store_of_its_service(tmp_path):
    scripts, programs = tmp_path / "scripts" / "bin", tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    programs.mkdir(parents=True)
    command = scripts / "tickwell"
    command.write_text((ROOT / "scripts/bin/tickwell").read_text())
    command.chmod(0o755)
    missing = subprocess.run([command], capture_output=True, text=True, check=False)
    assert "Run once" in missing.stderr
    write_program(programs / "tickwell", 'echo "$TICKWELL_STORE" "$TICKWELL_ALLOW_HTTP" "$@"')
    environment = {"PATH": os.environ["PATH"]}

    def output(environment):
        words, pipe = [command, "jobs", "list"], subprocess.PIPE
        done = subprocess.run(words, env=environment, stdout=pipe, check=True, text=True, cwd="/")
        return done.stdout

    assert output(environment) == f"sqlite:///{tmp_path}/tickwell.db true jobs list\n"
    assert output(environment | {"TICKWELL_STORE": "redis://x"}) == "redis://x true jobs list\n"
