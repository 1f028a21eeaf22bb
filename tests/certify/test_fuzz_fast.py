"""A minute of fuzzing for the integer checker."""

from pathlib import Path

from smilenn.certify import check


def test_the_fast_checker_answers_whatever_the_files_hold(fuzzing, tmp_path):
    def read(folder):
        _, files = check.read_folder(str(folder))
        check.parse(files["certificate.json"], "certificate.json")
        check.parse(files["model.json"], "model.json")
        check.tensors_of(files["weights.safetensors"])
        if check.PROPERTIES in files:
            check.parse(files[check.PROPERTIES], check.PROPERTIES)

    assert fuzzing.fuzz_checker(check, read, Path(__file__).with_name("corpus2"), tmp_path / "m") > 100
