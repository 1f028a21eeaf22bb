"""Fuzzing of the integer checker, for two seconds, and for two minutes in the slow tests."""

from pathlib import Path

import pytest

from smilenn.certify import check

RUNS = [2.0, pytest.param(120.0, marks=pytest.mark.slow)]  # seconds


@pytest.mark.parametrize("seconds", RUNS)
def test_the_fast_checker_answers_whatever_the_files_hold(fuzzing, tmp_path, seconds):
    def read(folder):
        _, files = check.read_folder(str(folder))
        check.parse(files["certificate.json"], "certificate.json")
        check.parse(files["model.json"], "model.json")
        check.tensors_of(files["weights.safetensors"])
        if check.PROPERTIES in files:
            check.parse(files[check.PROPERTIES], check.PROPERTIES)

    assert fuzzing.fuzz_checker(check, read, Path(__file__).with_name("corpus2"), tmp_path / "m", seconds) > 100
