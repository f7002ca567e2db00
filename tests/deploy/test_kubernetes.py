"""The chart, rendered by the real Helm, against the API of two versions of Kubernetes."""

import functools
import re
import subprocess

import pytest
import yaml

from scripts import manifests
from tests.deploy.deployed import DEPLOY, check_variables, faults, load, parse, schema

VERSIONS = ("1.27", "1.37")
DEFAULT: tuple[str, ...] = ()
EVERYTHING = (
    "--set=autoscaling.enabled=true,ingress.enabled=true,ingress.className=nginx",
    "--set=app=shop.jobs:scheduler,worker.queues={default,mail},drainSeconds=120",
    "--set=migration.existingSecret=owner,imagePullSecrets={registry}",
    "--set-string=env.TICKWELL_LEASE=45s",
    "--set=networkPolicy.webhookNetworks={10.1.0.0/16}",
)
OPTIONS = pytest.mark.parametrize("options", [DEFAULT, EVERYTHING], ids=["default", "everything"])


@functools.cache
def rendered(options):
    return [each for each in yaml.safe_load_all(manifests.render(*options)) if each]


def of_kind(options, kind):
    found = [each for each in rendered(options) if each["kind"] == kind]
    return {each["metadata"]["name"]: each for each in found}


def pods(options):
    made = {**of_kind(options, "Deployment"), **of_kind(options, "Job")}
    return {name: each["spec"]["template"] for name, each in made.items()}


def environment(container):
    return {each["name"]: each["value"] for each in container["env"]}


def test_helm_lint_finds_nothing():
    command = [str(manifests.HELM), "lint", "--strict", str(manifests.CHART)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_plain_manifests_are_those_of_the_chart():
    for name, options in manifests.FILES.items():
        text = (DEPLOY / "kubernetes" / name).read_text("utf-8")
        assert text == manifests.HEADER + manifests.render(*options), (
            "run: .venv/bin/python -m scripts.manifests"
        )


@pytest.mark.parametrize("version", VERSIONS)
@OPTIONS
def test_every_object_is_as_the_api_says(options, version):
    api = schema(f"kubernetes-{version}")
    for each in rendered(options):
        kind = api["kinds"][f"{each['apiVersion']} {each['kind']}"]
        wanted = {"$ref": f"#/definitions/{kind}", "definitions": api["definitions"]}
        assert faults(each, wanted) == [], each["metadata"]["name"]


def test_a_misspelt_field_would_be_noticed():
    api = schema("kubernetes-1.37")
    [service] = of_kind(DEFAULT, "Service").values()
    wrong = service | {"spec": service["spec"] | {"selectors": {}}}
    wanted = {"$ref": "#/definitions/io.k8s.api.core.v1.Service", "definitions": api["definitions"]}
    assert faults(wrong, wanted) != []


@OPTIONS
def test_there_is_a_deployment_and_a_disruption_budget_per_role(options):
    roles = {f"tickwell-{role}" for role in ("api", "planner", "worker")}
    assert set(of_kind(options, "Deployment")) == roles
    assert set(of_kind(options, "PodDisruptionBudget")) == roles
    assert set(of_kind(options, "NetworkPolicy")) == roles | {"tickwell-migration"}


@OPTIONS
def test_selectors_match_the_pods_of_their_role(options):
    labels = {
        template["metadata"]["labels"]["app.kubernetes.io/component"]: template["metadata"][
            "labels"
        ]
        for template in pods(options).values()
    }
    chosen = [
        *(
            each["spec"]["selector"]["matchLabels"]
            for each in of_kind(options, "Deployment").values()
        ),
        *(
            each["spec"]["selector"]["matchLabels"]
            for each in of_kind(options, "PodDisruptionBudget").values()
        ),
        *(
            each["spec"]["podSelector"]["matchLabels"]
            for each in of_kind(options, "NetworkPolicy").values()
        ),
        *(each["spec"]["selector"] for each in of_kind(options, "Service").values()),
    ]
    assert len(chosen) == 11
    for selector in chosen:
        role = selector["app.kubernetes.io/component"]
        assert selector.items() <= labels[role].items()


@OPTIONS
def test_commands_and_settings_exist(options):
    for name, template in pods(options).items():
        [container] = template["spec"]["containers"]
        parse(container["args"])
        settings = check_variables(environment(container))
        if name.startswith("tickwell-migrate"):
            continue
        assert container["args"][2] == name.removeprefix("tickwell-")
        # 5 s before the signal, the drain, 25 s to write.
        drain = settings.drain_timeout
        assert template["spec"]["terminationGracePeriodSeconds"] == drain + 30


def test_values_reach_the_workers():
    [container] = pods(EVERYTHING)["tickwell-worker"]["spec"]["containers"]
    variables = environment(container)
    assert container["args"] == ["serve", "--role", "worker", "--app", "shop.jobs:scheduler"]
    assert variables["TICKWELL_QUEUES"] == "default,mail"
    assert variables["TICKWELL_LEASE"] == "45s"
    assert "replicas" not in of_kind(EVERYTHING, "Deployment")["tickwell-worker"]["spec"]


@OPTIONS
def test_probes_ask_what_a_process_answers_without_a_key(options):
    for template in pods(options).values():
        [container] = template["spec"]["containers"]
        if container["args"][0] == "serve":
            asked = {
                name: container[name]["httpGet"]["path"] for name in container if "Probe" in name
            }
            assert asked == {
                "startupProbe": "/healthz",
                "livenessProbe": "/healthz",
                "readinessProbe": "/readyz",
            }


@OPTIONS
def test_every_pod_is_locked_down(options):
    for template in pods(options).values():
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        [container] = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        assert environment(container)["CREDENTIALS_DIRECTORY"] == mounts["secrets"]


def test_the_migration_may_have_a_store_of_its_own():
    secrets = {
        name.partition("-migrate")[0]: template["spec"]["volumes"][0]["secret"]["secretName"]
        for name, template in pods(EVERYTHING).items()
    }
    assert secrets == {
        "tickwell": "owner",
        "tickwell-api": "tickwell",
        "tickwell-planner": "tickwell",
        "tickwell-worker": "tickwell",
    }


def test_the_autoscaler_reads_what_the_adapter_serves():
    [scaler] = of_kind(EVERYTHING, "HorizontalPodAutoscaler").values()
    assert scaler["spec"]["scaleTargetRef"]["name"] in of_kind(EVERYTHING, "Deployment")
    [metric] = scaler["spec"]["metrics"]
    [rule] = load(DEPLOY / "kubernetes" / "prometheus-adapter.yaml")["rules"]["external"]
    assert metric["external"]["metric"]["name"] == rule["name"]["as"]
    rules = (DEPLOY / "prometheus" / "tickwell.rules.yml").read_text("utf-8")
    assert f"expr: {rule['metricsQuery']}\n" in rules


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("workers.replicas=3", "workers"),
        ("drainSeconds=30s", "drainSeconds"),
        ("env.lease=30s", "lease"),
        ("worker.queues=mail", "queues"),
        ("app=shop.jobs", "app"),
    ],
)
def test_wrong_values_are_refused(option, message):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        manifests.render(f"--set={option}")
    assert re.search(rf"\b{message}\b", refused.value.stderr)
