"""The package is lazy: importing it and asking for help need neither torch nor the network."""

import os
import subprocess
import sys

import pytest

# `sys.modules[name] = None` makes every import of that name fail.
NO_TORCH = "import sys; sys.modules['torch'] = None\n"
NO_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("the network was touched")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""


def python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONWARNINGS": "error", "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


def test_importing_smilenn_does_not_import_torch():
    done = python("import sys, smilenn; print(smilenn.__version__, 'torch' in sys.modules)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "False"


def test_importing_smilenn_works_without_torch():
    done = python(NO_TORCH + "import smilenn; print(smilenn.__version__, 'SmileNet' in dir(smilenn))")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["smilenn", "smilenn.cli", "smilenn.datasets"])
def test_nothing_touches_the_network_at_import(module):
    done = python(NO_NETWORK + f"import {module}")
    assert done.returncode == 0, done.stderr


def test_data_sets_need_no_torch():
    done = python(NO_TORCH + "import smilenn.datasets as d; d.make_credit(10)")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_command_answers_with_torch_and_network_blocked(option):
    start = "import sys; from smilenn.cli import main; sys.argv[0] = 'smile'; main()"
    done = python(NO_TORCH + NO_NETWORK + start, option)
    assert done.returncode == 0, done.stderr
    assert ("demo" if option == "--help" else "0.") in done.stdout


def test_checking_needs_no_torch():
    done = python("import sys, smilenn.cli.checking; print('torch' in sys.modules)")
    assert done.returncode == 0 and done.stdout.strip() == "False", done.stderr


def test_module_is_the_command():
    code = NO_TORCH + "import runpy; sys.argv[0] = 'smile'; runpy.run_module('smilenn', run_name='__main__')"
    done = python(code, "--help")
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


def test_public_names_exist():
    done = python("import smilenn\nfor name in smilenn.__all__: getattr(smilenn, name)")
    assert done.returncode == 0, done.stderr


def test_loading_a_model_does_not_import_the_compiler_of_torch(tmp_path, quick_fits):
    """Any comparison on the meta device would: two seconds for every process that predicts."""
    import numpy as np
    import pandas as pd

    from smilenn import Config, SmileRegressor

    frame = pd.DataFrame({"x": np.linspace(0, 1, 60), "g": list("abc") * 20})
    model = SmileRegressor(increasing=["x"], config=Config(epochs=1), random_state=0, certify_limit=0)
    model.fit(frame, np.linspace(0, 2, 60)).save(tmp_path / "m")
    load = "import sys, smilenn; print(type(smilenn.load(sys.argv[1])).__name__, 'torch._dynamo' in sys.modules)"
    done = python(load, str(tmp_path / "m"))
    assert done.stdout.split() == ["SmileRegressor", "False"], done.stderr
