"""A minute of fuzzing for the reference checker."""

from pathlib import Path

from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import reader


def test_the_reference_checker_answers_whatever_the_files_hold(fuzzing, tmp_path):
    corpus = Path(__file__).with_name("corpus2")
    assert fuzzing.fuzz_checker(check_reference, reader.read_folder, corpus, tmp_path / "m") > 100
