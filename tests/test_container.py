"""Dockerfile and docker-compose.yml as far as they can be held without Docker."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from smilenn.cli import app
from smilenn.service.run import GRACE

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
STEPS = [tuple(line.split(maxsplit=1)) for line in LINES if line.strip() and not line.startswith("#")]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))


def all_of(kind):
    return [rest for name, rest in STEPS if name == kind]


def listed(kind):
    (found,) = all_of(kind)
    return yaml.safe_load(found)


def test_what_is_copied_is_there_and_sent():
    sources = [word for rest in all_of("COPY") for word in shlex.split(rest)[:-1]]
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert sources and all((ROOT / source).exists() for source in sources)
    assert set(sources) == allowed  # and nothing else travels to the builder
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {project["readme"], *project["license-files"]} <= set(sources)


def test_everything_is_pinned():
    (base,) = all_of("FROM")
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base)
    (installs,) = all_of("RUN")
    assert "grep '^torch==' constraints.txt" in installs and "-c constraints.txt" in installs
    pinned = (ROOT / "constraints.txt").read_text("utf-8")
    for name in ("torch", "fastapi", "uvicorn", "prometheus_client", "cryptography"):
        assert re.search(rf"^{name}==", pinned, re.MULTILINE)
    extras = re.findall(r"'\.\[(.*?)\]'", installs)[0].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras) <= set(known)


def test_it_runs_as_nobody_in_particular_and_says_how_it_is():
    (user,) = all_of("USER")
    assert user.isdecimal() and int(user) > 0
    assert [name for name, _ in STEPS].index("USER") > [name for name, _ in STEPS].index("RUN")
    (health,) = all_of("HEALTHCHECK")
    code = yaml.safe_load(health.split("CMD", 1)[1])[2]
    compile(code, "health", "exec")
    assert "/health" in code


def test_the_command_is_one_of_smile():
    words = listed("ENTRYPOINT") + listed("CMD")
    assert words[:2] == ["smile", "serve"]
    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    found = serve.make_context("serve", words[2:], resilient_parsing=True).params
    assert found["host"] == "0.0.0.0" and [str(found["port"])] == all_of("EXPOSE")


def test_the_composition_gives_every_container_little():
    assert set(COMPOSE["services"]) == {"service", "scheduler", "worker"}
    for part in COMPOSE["services"].values():
        assert part["read_only"] and part["cap_drop"] == ["ALL"] and part["image"] == "smilenn:local"
        assert part["security_opt"] == ["no-new-privileges:true"] and part["mem_limit"]
        assert all(volume.endswith((":/model:ro", ":/data")) for volume in part.get("volumes", ()))
    service = COMPOSE["services"]["service"]
    assert service["volumes"][0].endswith(":/model:ro")
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["ports"][0].rsplit(":")[-1] in all_of("EXPOSE")
    assert int(service["stop_grace_period"].removesuffix("s")) > GRACE


def test_the_cluster_has_two_workers_and_a_network_of_its_own():
    scheduler, worker = COMPOSE["services"]["scheduler"], COMPOSE["services"]["worker"]
    assert worker["deploy"]["replicas"] == 2 and worker["depends_on"] == {"scheduler": {"condition": "service_healthy"}}
    assert COMPOSE["networks"]["cluster"]["internal"]
    for part in (scheduler, worker):
        assert part["networks"] == ["cluster"] and "ports" not in part
    assert "cluster" in re.findall(r"'\.\[(.*?)\]'", all_of("RUN")[0])[0].split(",")
    assert "healthcheck" in scheduler and worker["healthcheck"] == {"disable": True}  # the image's asks for a service
    compile(scheduler["healthcheck"]["test"][3], "health", "exec")


def test_dask_knows_the_commands_of_the_cluster():
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
    from distributed.cli import dask_scheduler, dask_worker

    for command, name in ((dask_scheduler.main, "scheduler"), (dask_worker.main, "worker")):
        part = COMPOSE["services"][name]
        words = [*part["entrypoint"], *part["command"]]
        assert words[:2] == ["dask", name]
        found = command.make_context(name, words[2:], resilient_parsing=False).params
        if name == "worker":
            assert (found["scheduler"], found["n_workers"], found["nthreads"]) == ("tcp://scheduler:8786", "1", 1)
        else:
            assert found["port"] == "8786"


def test_hadolint():
    if shutil.which("hadolint") is None:
        pytest.skip("hadolint is not installed; the Dockerfile is held by the tests above alone.")
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
