"""Certified folders with a value or a byte changed, digests put right: check.py and the proved checker agree."""

import itertools
import json
import random
from importlib import import_module

import pytest

from smilenn.certify import check


@pytest.fixture(scope="module")
def bases(order, trees, forge2, tmp_path_factory):
    """Files of certified folders."""
    place, out, seed = tmp_path_factory.mktemp("bases"), [], 0
    while len(out) < 12:
        order.order_folder(place / f"{seed}", seed)
        if check.check_folder(place / f"{seed}").status == "certified":
            out.append(forge2.read(place / f"{seed}"))
        seed += 1
    grown = (forge2.put(place / f"trees-{seed}", trees.Grown(seed).files) for seed in range(100))
    certified = (folder for folder in grown if check.check_folder(folder).status == "certified")
    return out + [forge2.read(folder) for folder in itertools.islice(certified, 12)]


@pytest.mark.parametrize("seed", range(12))
def test_one_change(smilecheck, forge2, bases, tmp_path, seed):
    """Ten changes a seed: the same verdict, the same report where it is certified, or exit code 3."""
    rng, changes = random.Random(seed), import_module("trust.proved_changes")
    covered = 0
    for number in range(10):
        files = changes.mutated(rng, rng.choice(bases))
        folder = forge2.put(tmp_path / f"{number}", files)
        report = check.check_folder(folder)
        code, found, text = smilecheck(folder)
        if found["reason"].startswith("not covered by the proof: "):
            assert code == 3
            assert "failed" not in found["reason"]
            continue
        covered += 1
        assert (code, found["status"]) == (report.exit_code, report.status), (report.reason, found["reason"])
        if code == 0:
            assert text == json.dumps(report.to_json())
    assert covered >= 7
