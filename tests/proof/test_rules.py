"""Every rule and box that the proof covers: one verdict of three checkers on random folders, and one report."""

import pytest

from smilenn.certify import verified

# kind, folders, and how many at least are certified, not shown, refused
KINDS = {
    "affine": (30, 10, 5, 0),
    "affine-one": (20, 8, 2, 0),
    "cases": (60, 1, 10, 20),
    "changed-more": (40, 1, 1, 15),
    "paper": (30, 10, 5, 0),
    "paper-encoded": (30, 12, 2, 1),
    "paper-fixed": (20, 8, 2, 0),
    "signs": (60, 3, 0, 10),
    "slope": (40, 5, 5, 10),
    "sweep": (30, 8, 8, 0),
    "sweeps": (40, 6, 8, 5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_random_folders(proved, tmp_path, kind):
    count, *least = KINDS[kind]
    proved.make(tmp_path, [kind], range(count))
    found = [proved.difference(tmp_path / f"{kind}-{seed}", str(verified.program())) for seed in range(count)]
    assert [how for _, how in found if how] == []
    statuses = [status for status, _ in found]
    for status, number in zip(("certified", "unknown", "refused"), least, strict=True):
        assert statuses.count(status) >= number, statuses


def test_a_difference_is_seen(proved, tmp_path):
    """Another verdict and another bound are told."""
    proved.make(tmp_path, ["paper"], range(1))
    folder, program = tmp_path / "paper-0", str(verified.program())
    file = folder / proved.FINDINGS
    said = file.read_text(encoding="utf-8")
    assert proved.difference(folder, program)[1] == ""
    file.write_text(said.replace('\\"margin\\": \\"', '\\"margin\\": \\"1'), encoding="utf-8")
    assert proved.difference(folder, program)[1] == "other bounds or words"
    file.write_text(said.replace('"code": 0', '"code": 1'), encoding="utf-8")
    assert "by check.py" in proved.difference(folder, program)[1]
