"""deploy/compose.yaml: by its schema, and every command and setting in it by the real ones."""

import os
import re
import shutil
import subprocess

import pytest

from tests.deploy.deployed import (
    DEPLOY,
    check_variables,
    faults,
    load,
    parse,
    schema,
    seconds,
)

COMPOSE = load(DEPLOY / "compose.yaml")
SERVICES = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "tickwell"}


def resolved(text):
    """With the defaults of its variables."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_it_is_as_the_specification_says():
    assert faults(COMPOSE, schema("compose-spec")) == []


def test_every_role_runs_as_often_as_the_documentation_says():
    replicas = {
        each["command"][-1]: each.get("deploy", {}).get("replicas", 1)
        for each in OURS.values()
        if each["command"][0] == "serve"
    }
    assert replicas == {"api": 2, "planner": 1, "worker": 2}


@pytest.mark.parametrize("name", OURS)
def test_commands_and_settings_exist(name):
    service = OURS[name]
    parse(service["command"])
    settings = check_variables(
        {key: resolved(value) for key, value in service["environment"].items()}
    )
    drain = settings.drain_timeout
    # The service gives its worker processes 25 s more.
    assert seconds(service["stop_grace_period"]) >= drain + 25
    check_variables({secret: "" for secret in service["secrets"] if secret != "TICKWELL_STORE"})


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_locked_down(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
    # Those of Tickwell have the check of their image.
    assert name in {*OURS, "proxy"} or service["healthcheck"]["test"][0] == "CMD"


def test_no_password_is_in_the_file():
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    assert re.findall(r"(?i)(?:password|token|keys?): *(?!/run/secrets/)\S", text) == []


def test_files_that_are_mounted_exist():
    mounted = [
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", ())
    ]
    missing = [
        source
        for source in mounted
        if source not in COMPOSE["volumes"] and not (DEPLOY / source).is_file()
    ]
    assert missing == []


def test_services_use_only_networks_and_secrets_that_are_declared():
    for service in SERVICES.values():
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        assert set(service.get("depends_on", ())) <= set(SERVICES)


def made_secrets(folder):
    script = shutil.copy(DEPLOY / "compose" / "make-secrets", folder)
    subprocess.run([script], check=True, capture_output=True)
    return {each.name: each.read_text("utf-8") for each in (folder / "secrets").iterdir()}


def test_the_script_makes_every_secret_and_keeps_it(tmp_path):
    first = made_secrets(tmp_path)
    assert {f"./compose/secrets/{name}" for name in first} == {
        each["file"] for each in COMPOSE["secrets"].values()
    }
    assert made_secrets(tmp_path) == first
    folder = tmp_path / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700
    # The users of the containers read them; on the host only the owner gets into the folder.
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o444}
    ours = {name: text.strip() for name, text in first.items() if name.startswith("TICKWELL_")}
    assert first["postgres_password"].strip() in ours["TICKWELL_STORE"]
    assert check_variables(ours).store == ours["TICKWELL_STORE"]


def test_the_server_key_is_accepted(tmp_path):
    from tickwell.services.keyring.keyring import read_keys

    text = made_secrets(tmp_path)["TICKWELL_SECRET_KEYS"].strip()
    read_keys(text.split(","), "TICKWELL_SECRET_KEYS")  # refuses what is short or guessable


def test_prometheus_accepts_its_configuration(tmp_path):
    config = (DEPLOY / "compose" / "prometheus.yml").read_text("utf-8")
    token = tmp_path / "token"
    token.write_text("x")
    (tmp_path / "prometheus.yml").write_text(
        config.replace("/run/secrets/TICKWELL_METRICS_TOKEN", str(token))
    )
    shutil.copy(DEPLOY / "prometheus" / "tickwell.rules.yml", tmp_path)
    program = os.environ.get("TICKWELL_TEST_PROMETHEUS", "prometheus")
    promtool = shutil.which(program.replace("prometheus", "promtool"))
    assert promtool, "promtool comes with Prometheus"
    done = subprocess.run(
        [promtool, "check", "config", tmp_path / "prometheus.yml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_prometheus_scrapes_every_process():
    config = load(DEPLOY / "compose" / "prometheus.yml")
    [scrape] = config["scrape_configs"]
    serving = {name for name, each in OURS.items() if each["command"][0] == "serve"}
    assert set(scrape["dns_sd_configs"][0]["names"]) == serving


def test_grafana_finds_dashboard_and_data_source():
    mounts = dict(each.split(":")[:2] for each in SERVICES["grafana"]["volumes"])
    [provider] = load(DEPLOY / "compose" / "grafana-dashboards.yml")["providers"]
    assert mounts["./grafana/tickwell.json"].startswith(provider["options"]["path"] + "/")
    [source] = load(DEPLOY / "compose" / "grafana-datasources.yml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
