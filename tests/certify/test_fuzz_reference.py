"""Fuzzing of the reference checker, for two seconds, and for two minutes in the slow tests."""

from pathlib import Path

import pytest

from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import reader

RUNS = [2.0, pytest.param(120.0, marks=pytest.mark.slow)]  # seconds


@pytest.mark.parametrize("seconds", RUNS)
def test_the_reference_checker_answers_whatever_the_files_hold(fuzzing, tmp_path, seconds):
    corpus = Path(__file__).with_name("corpus2")
    assert fuzzing.fuzz_checker(check_reference, reader.read_folder, corpus, tmp_path / "m", seconds) > 100
