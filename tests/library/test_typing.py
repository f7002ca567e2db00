"""The library's types: what is right passes mypy in its strict mode, what is wrong does not."""

import subprocess
import sys
from pathlib import Path

import tickwell
from tests.docs import pages
from tickwell.declared.policies import Policies
from tickwell.domain.job import Job

HERE = Path(__file__).parent / "typing"
#: What mypy knows of the libraries from the last run, which takes it 14 s to find out.
CACHE = HERE.parent.parent.parent / ".mypy_cache" / "library"
#: FastAPI takes mypy longer than all of these together, and Django ships no types.
LEFT_OUT = {"web_app.py", "test_fastapi_app.py", "django_app.py", "test_django_app.py"}
EXAMPLES = [example for example in pages.EXAMPLES if example.name not in LEFT_OUT]
#: Fields of a job that no declaration sets.
OWN = {
    *("id", "name", "trigger", "target", "project", "app", "declared"),
    *("version", "saved_at", "created_at"),
}


def test_types_accept_what_works_and_refuse_what_does_not(tmp_path):
    """As users run mypy: on an installed package, without a configuration of ours."""
    mypy = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "",
        "--cache-dir",
        str(CACHE),
    ]
    done = subprocess.run(
        [*mypy, HERE / "accepted.py", HERE / "refused.py", *EXAMPLES],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout == f"Success: no issues found in {2 + len(EXAMPLES)} source files\n"


def test_the_package_says_that_it_is_typed():
    assert (Path(tickwell.__file__).parent / "py.typed").exists()


def test_declarations_know_every_policy_of_a_job():
    # The zone goes into the trigger.
    assert set(Policies.__annotations__) - {"tz"} == set(Job.__dataclass_fields__) - OWN
