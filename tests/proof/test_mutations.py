"""Certified folders with a value or a byte changed, digests put right: check.py and the proved checker agree."""

import itertools
import json
import random

import pytest

from smilenn.certify import check

NUMBERS = [0, 1, -1, 3, 64, 10**30, 2**31, 1.0, -0.0, -0.5, 1e300, 5e-324]
WORDS = [
    "",
    "\ud800",
    "é",
    "a",
    "equal",
    "free",
    "==",
    "0",
    "-1",
    "1/3",
    "1/0",
    "x0",
    "x1",
    "in",
    "out",
    "order",
    "mirror",
]
ODD = [*NUMBERS, *WORDS, None, True, [], {}, [0], [1, 1]]
KEYS = ["extra", "encoder", "unit", "shift", "either"]
PARTS = ["model.json", "model.json", "certificate.json", "certificate.json", "weights.safetensors"]


def places(value, path=()):
    """Paths to all parts of a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def changed(rng, value):
    """The value with one part replaced, dropped, doubled or added."""
    *path, last = rng.choice([path for path in places(value) if path])
    inside = value
    for key in path:
        inside = inside[key]
    how = rng.random()
    if how < 0.65:
        inside[last] = rng.choice(ODD)
    elif how < 0.8:
        del inside[last]
    elif isinstance(inside, list):
        inside.insert(last, rng.choice([inside[last], rng.choice(ODD)]))
    else:
        inside[rng.choice(KEYS)] = rng.choice(ODD)
    return value


def mutated(rng, forge2, files):
    """The files with a change in one of them."""
    name = rng.choice(PARTS)
    data = files[name]
    if name == "weights.safetensors":
        size = int.from_bytes(data[:8], "little")
        if rng.random() < 0.5:
            header = json.dumps(changed(rng, json.loads(data[8 : 8 + size]))).encode()
            data = len(header).to_bytes(8, "little") + header + data[8 + size :]
        else:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    else:
        data = json.dumps(changed(rng, json.loads(data))).encode()
    files = {**files, name: data}
    try:
        return forge2.rehashed(files)
    except Exception:  # the writer cannot read what was done; the digests stay as they are
        return files


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
    rng = random.Random(seed)
    for number in range(10):
        files = mutated(rng, forge2, rng.choice(bases))
        folder = forge2.put(tmp_path / f"{number}", files)
        report = check.check_folder(folder)
        code, found, text = smilecheck(folder)
        if found["reason"].startswith("not covered by the proof: "):
            assert code == 3
            assert "failed" not in found["reason"]
            continue
        assert (code, found["status"]) == (report.exit_code, report.status), (report.reason, found["reason"])
        if code == 0:
            assert text == json.dumps(report.to_json())
