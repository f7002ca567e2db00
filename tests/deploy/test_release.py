"""What a release writes, and what publishes it."""

import json
import os
import re
import subprocess
import tomllib

import pytest

from scripts import release_files, sbom
from tests.deploy.deployed import DEPLOY, ROOT, faults, load, schema

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHANGELOG = """# Changelog

## Unreleased

- New.

## 0.1.0 (2026-01-01)

- Old.
"""


def workflow(path):
    document = load(path)
    # YAML 1.1 reads `on` as true.
    return {("on" if key is True else key): value for key, value in document.items()}


def steps(path):
    for job in workflow(path)["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_as_their_schema_says(path):
    assert faults(workflow(path), schema("github-workflows")) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_no_more_than_they_need(path):
    document = workflow(path)
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 60
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        # What a contributor writes is no part of a script.
        assert "${{" not in step.get("run", "")


def test_workflows_call_commands_of_run_that_exist():
    known = set(re.findall(r"^\./run (\w+)", usage(), re.MULTILINE))
    called = {
        name
        for path in WORKFLOWS
        for step in steps(path)
        for name in re.findall(r"\./run (\w+)", step.get("run", ""))
    }
    assert called == {"audit", "build", "docs", "setup", "test"}
    assert called <= known


def usage():
    return subprocess.run([ROOT / "run", "help"], capture_output=True, text=True, check=True).stdout


def test_hooks_before_a_commit_call_programs_that_are_installed():
    [repository] = load(ROOT / ".pre-commit-config.yaml")["repos"]
    programs = [hook["entry"].split()[0] for hook in repository["hooks"]]
    missing = [name for name in programs if not os.access(ROOT / name, os.X_OK)]
    assert missing == []


def test_a_release_moves_the_changelog_under_its_version():
    text = release_files.release_changelog(CHANGELOG, "0.2.0", "2026-02-01")
    assert text.index("## Unreleased\n") < text.index("## 0.2.0 (2026-02-01)\n\n- New.")
    assert release_files.notes_of(text, "0.2.0") == "- New."
    assert release_files.notes_of(text, "0.1.0") == "- Old."


def test_a_release_without_notes_is_refused():
    released = release_files.release_changelog(CHANGELOG, "0.2.0", "2026-02-01")
    with pytest.raises(SystemExit, match="nothing under Unreleased"):
        release_files.release_changelog(released, "0.3.0", "2026-03-01")


def test_a_release_writes_its_version_into_package_and_chart():
    project = release_files.set_version((ROOT / "pyproject.toml").read_text("utf-8"), "1.2.3rc1")
    assert tomllib.loads(project)["project"]["version"] == "1.2.3rc1"
    chart = DEPLOY / "helm" / "tickwell" / "Chart.yaml"
    text = release_files.set_chart(chart.read_text("utf-8"), "1.2.3rc1")
    assert "\nversion: 1.2.3-rc.1\n" in text
    assert "\nappVersion: 1.2.3rc1\n" in text


def test_the_chart_names_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    chart = load(DEPLOY / "helm" / "tickwell" / "Chart.yaml")
    assert chart["appVersion"] == project["version"]


def test_the_bill_of_materials_lists_what_is_shipped():
    document = json.loads(json.dumps(sbom.document("1.2.3")))
    pins = dict(sbom.PIN.findall((ROOT / "constraints" / "run.txt").read_text("utf-8")))
    shipped = {each["name"]: each["version"] for each in document["components"]}
    assert shipped == {name: pins[name] for name in pins.keys() - sbom.build_only()}
    assert shipped["aiohttp"] == pins["aiohttp"]
    assert "hatchling" in pins
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/tickwell@1.2.3"
