import os
import subprocess
import sys


def test_settings_of_the_shell_do_not_reach_the_tests():
    mine = {"TICKWELL_STORE": "postgresql://db/shop", "TICKWELL_TEST_REDIS": "redis://r"}
    show = "import os, tests.conftest; print([k for k in os.environ if k.startswith('TICKWELL_')])"
    shown = subprocess.run(
        [sys.executable, "-c", show],
        env={"PATH": os.environ["PATH"], **mine},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert shown.stdout == "['TICKWELL_TEST_REDIS']\n"
