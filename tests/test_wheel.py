"""The wheel: built, installed where no smilenn is, and its command run from there.

The normal test borrows the installed dependencies, so it costs seconds; the slow one installs them too.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path, timeout: int = 120) -> str:
    # Nothing of the developer's environment may reach the clean one.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") and k != "VIRTUAL_ENV"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {"COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def clean_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    return folder / ("Scripts" if os.name == "nt" else "bin")


def site_packages(folder: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", vars={"base": str(folder), "platbase": str(folder)}))


def assert_command_works(scripts: Path, folder: Path, work: Path) -> None:
    where = run(scripts / "python", "-c", "import smilenn; print(smilenn.__file__)", cwd=work).strip()
    assert Path(where).is_relative_to(folder), "the imported package is not the one in the wheel"
    assert "demo" in run(scripts / "smile", "--help", cwd=work)
    version = run(scripts / "python", "-c", "import smilenn; print(smilenn.__version__)", cwd=work).strip()
    assert version in run(scripts / "smile", "--version", cwd=work)
    assert "demo" in run(scripts / "python", "-m", "smilenn", "--help", cwd=work)


def test_wheel_carries_types_licence_and_every_module(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "smilenn"
    modules = {str(file.relative_to(package.parent)) for file in package.rglob("*.py")}
    assert modules <= names
    assert "smilenn/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith("tests") for name in names)


def test_command_runs_from_the_installed_wheel(wheel, tmp_path):
    folder = tmp_path / "env"
    scripts = clean_environment(folder)
    run(scripts / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # A plain path line lends the dependencies. Python does not follow .pth files found in such a folder, so the
    # development install of smilenn, which is one, stays out of sight.
    (site_packages(folder) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    assert_command_works(scripts, folder, tmp_path)


@pytest.mark.slow
def test_command_runs_from_the_wheel_with_its_own_dependencies(wheel, tmp_path):
    folder = tmp_path / "env"
    scripts = clean_environment(folder)
    # torch by its exact version, as make does: from an open range pip would take a build with gigabytes of CUDA
    constraints = ROOT / "constraints.txt"
    (torch,) = (line for line in constraints.read_text().splitlines() if line.startswith("torch=="))
    pip = (scripts / "python", "-m", "pip", "install", "--quiet", "-c", constraints)
    run(*pip, torch, wheel, cwd=tmp_path, timeout=1800)
    assert_command_works(scripts, folder, tmp_path)
    run(scripts / "smile", "demo", cwd=tmp_path, timeout=600)


def test_the_source_distribution_holds_what_the_tests_need(tmp_path):
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"benchmarks/attack_models.py", "tests/certify/corpus/folders.tar.xz", "docs/architecture.md"} <= names
    assert {str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*.py")} <= names
