"""A private Prometheus: on a free loopback port, its data in a temporary folder."""

import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.servers.private import free_port, is_up

ADVICE = "Prometheus is not installed. As root: apt-get install prometheus"


def binary(name):
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(ADVICE)
    return found


@dataclass
class Server:
    port: int
    process: Any

    def get(self, path, **query):
        """The data of an answer of its API; an error of the query fails the test."""
        asked = urllib.parse.urlencode(query)
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{asked}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def firing(self):
        """The names of the alerts that fire now."""
        alerts = self.get("alerts")["alerts"]
        return {each["labels"]["alertname"] for each in alerts if each["state"] == "firing"}

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5):
                return True
        except OSError:
            return False


def start(folder, config):
    """With this configuration, whose rules lie in the folder."""
    port = free_port()
    (folder / "prometheus.yml").write_text(config)
    command = [binary("prometheus"), f"--config.file={folder / 'prometheus.yml'}"]
    command += [f"--storage.tsdb.path={folder / 'data'}", "--log.level=warn"]
    command += [f"--web.listen-address=127.0.0.1:{port}"]
    ties = ["setpriv", "--pdeathsig=KILL", "--"] if shutil.which("setpriv") else []
    server = Server(port, subprocess.Popen([*ties, *command]))
    if not is_up(server.process, server.answers):
        raise RuntimeError("Prometheus did not start")
    return server
