"""The kill suite of mutation.py: questions whose answers a faulty checker gets wrong; standard library only.

A check takes the loaded modules of a checker and returns an answer that the unchanged checker gives too. Folders come
first (the frozen corpus, random ones): status, reason, every number and the printed report count. Then single functions
at their limits, which no small folder reaches: sizes of files, numbers of nodes, digits.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import os
import random
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from trust import (
    kill_balls,
    kill_cases,
    kill_lemmas,
    kill_networks,
    kill_numbers,
    kill_signs,
    kill_small,
    kill_sweeps,
    kill_trees,
    kill_version2,
    kill_work,
)

Check = tuple[str, Callable[[SimpleNamespace], Any]]


CORPORA = Path(__file__).resolve().parents[1] / "tests" / "certify"
KILLERS = frozenset(json.loads(Path(__file__).with_name("kill_folders.json").read_text(encoding="utf-8")))
"""Folders of the corpus that have noticed a planted fault; the others ask what these and the checks below ask too."""

PINNED = frozenset(json.loads((CORPORA / "corpus" / "changes.json").read_text(encoding="utf-8")))
"""Folders with pinned modules, which version 1 refuses."""


def checks(target: str, folders: Path, only: frozenset[str] | None = None) -> list[Check]:
    """All checks of a checker ('fast' or 'reference'), with the folders named in `only`, or all."""
    found = sorted(p for p in folders.iterdir() if p.is_dir() and (only is None or p.name in only))
    fast = target == "fast"
    whole: list[Check] = [(f"folder {p.name}", _folder(p, fast)) for p in found]
    whole += [(f"version 2 of {p.name}", _folder(kill_version2.converted(p), fast)) for p in found if p.name in PINNED]
    parts = FAST if fast else REFERENCE
    limits: list[Check] = [
        (f"limits of {p.name}", _limits(p, fast))
        for p in found
        if p.name in ("forged-nothing", "slope-with-an-empty-leaf", "two-claims", "encoded-1")
    ]
    limits += [
        (f"limits of cases of {p.name}", functools.partial(_cased, path=p, fast=fast))
        for p in found
        if p.name == "encoded-1"
    ]
    single: list[Check] = [(check.__name__, check) for check in parts]  # cheap and sharp: first
    modules = (
        kill_small,
        kill_signs,
        kill_sweeps,
        kill_cases,
        kill_lemmas,
        kill_trees,
        kill_balls,
        kill_version2,
        kill_numbers,
        kill_work,
    )
    small = [check for module in modules for check in module.checks(target)]
    return single + small + whole + limits + kill_networks.checks(target)


def _cased(loaded: SimpleNamespace, path: Path, fast: bool) -> Any:
    files = {file.name: file.read_bytes() for file in path.iterdir() if file.name != "manifest.json"}
    return kill_cases.limits(loaded, files, fast)


def _folder(path: Path, fast: bool) -> Callable[[SimpleNamespace], Any]:
    def ask(loaded: SimpleNamespace) -> Any:
        module = loaded.check if fast else loaded.check_reference
        report = module.check_folder(path)
        claims = [
            (
                claim.formula,
                claim.sentence,
                [
                    (r.text, r.rule, r.bound, r.margin, r.rhs, r.room, r.excess, r.holds)
                    if fast
                    else (r.formula, r.rule, r.bound, r.margin, r.rhs, r.leaves, r.room, r.excess, r.holds)
                    for r in claim.rows
                ],
            )
            for claim in report.claims
        ]
        worst = report.excess
        lines = report.lines() if fast else module._lines(report)
        return report.status, report.reason, report.exit_code, report.profile, worst, report.domain, claims, lines

    return ask


def _limits(path: Path, fast: bool) -> Callable[[SimpleNamespace], Any]:
    """The least numbers of nodes and of work with which a folder is checked."""

    def ask(loaded: SimpleNamespace) -> Any:
        module = loaded.check if fast else loaded.check_reference
        out = []
        for name, start in (("NODES" if fast else "MOST_NODES", 1 << 8), ("WORK" if fast else "MOST_WORK", 1 << 20)):
            low, high = 0, start  # refused at low - 1, checked at high
            while low < high:
                middle = (low + high) // 2
                with _replaced(module, **{name: middle}):
                    report = module.check_folder(path)
                if report.status == "refused":
                    low = middle + 1
                else:
                    high = middle
            with _replaced(module, **{name: low - 1}):
                out.append((low, module.check_folder(path).reason))
        for name in () if fast else ("LARGEST_JSON", "LARGEST_FILE"):  # which file falls under which limit
            sizes = sorted(file.stat().st_size for file in path.iterdir())
            for size in (*sizes, *(size - 1 for size in sizes)):
                with _replaced(loaded.exact_folder, **{name: size}):
                    out.append((name, size, module.check_folder(path).reason))
        return out

    return ask


# ---- files, for both -------------------------------------------------------------------------------------------------


class _File:
    """An open file of a given size that remembers how much was asked for; nothing of that size is made."""

    def __init__(self, size: int, given: int | None = None) -> None:
        self.size, self.given, self.asked = size, size if given is None else given, -1

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def fileno(self) -> int:
        return 3

    def read(self, count: int) -> _Bytes:
        self.asked = count
        return _Bytes(min(count, self.given))


class _Bytes:
    """So many bytes."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


LIMITS = (0, 1, 64 << 20, (64 << 20) + 1, 1 << 30, (1 << 30) + 1, 1 << 40)


@contextlib.contextmanager
def _replaced(module: Any, **names: Any) -> Iterator[None]:
    before = {name: module.__dict__.get(name) for name in names}
    module.__dict__.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del module.__dict__[name]
            else:
                module.__dict__[name] = value


def _said(question: Callable[[], Any]) -> Any:
    """The answer, or the checker's own refusal in words."""
    try:
        return question()
    except Exception as error:
        if type(error).__module__.startswith("smilenn.certify"):
            return type(error).__name__, str(error)
        raise


TEXTS = [
    b"1",
    b"-1.5e3",
    b"[1, 2.0, true, null]",
    b'{"a": {"b": []}}',
    b'{"a": 1, "a": 2}',
    b"NaN",
    b"-Infinity",
    b"1e400",
    b"1" * 400,
    b"1" * 401,
    b"1." + b"1" * 398,
    b"1." + b"1" * 399,
    b"-" + b"1" * 399,
    b"-" + b"1" * 400,
    b"1e5",
    b"1E5",
    b"1.0",
    b"9" * 308,
    b"9" * 309,
    b"[" * 64 + b"]" * 64,
    b"[" * 65 + b"]" * 65,
    b'{"a":' * 64 + b"1" + b"}" * 64,
    b'{"a":' * 65 + b"1" + b"}" * 65,
    b"[" * 64 + b"1" + b"]" * 64,
    b'["[[[["' + b',"\\\\[",' + b'"\\"["]',
    b"",
    b" ",
    b"{",
    b"\xff",
    *(b"%d" % (s * (2**1024 - 2**970) - d) for s in (1, -1) for d in (-1, 0, 1)),
    b"%d.0" % (2**1024 - 2**970),
    b'"' + b"[" * 70 + b'"',
    b'["' + b"a" * 99 + b'"]',
    b"[[],[],[[1]]]",
    b"[" * 63 + b"{}" + b"]" * 63,
]


def _json(parse: Callable[[bytes, str], Any]) -> Any:
    return [repr(_said(lambda text=text: parse(text, "it"))) for text in TEXTS]


def _printed(main: Callable[[list[str]], int], arguments: list[str], encoding: str = "utf-8") -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline=""), io.StringIO()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = main(arguments)
    finally:
        sys.stdout, sys.stderr = before
    out.flush()
    return code, out.buffer.getvalue().decode(encoding), err.getvalue()  # type: ignore[attr-defined]


# ---- the fast checker ------------------------------------------------------------------------------------------------


def constants(loaded: SimpleNamespace) -> Any:
    """Numbers that docs/certificate.md fixes."""
    m = loaded.check
    sizes = m.MIB, m.NODES, m.WORK, m.DENOMINATOR, m.BITS, m.LAYERS, m.LEMMAS, m.USES, m.ENCODING, m.SIZE
    units = m.ROW, m.NODE, m.READING, m.WORDS, m.LONG, m.STEEP
    return sizes, units, m.ALL, m.FILES, m.PROPERTIES, m.EXIT, m.U, m.ETA, m.HUGE, m.OVERFLOW, m.HIDDEN, m.FRACTION


def sizes_of_files(loaded: SimpleNamespace) -> Any:
    """How much is read of files of all sizes, and what is refused."""
    m, out = loaded.check, []
    modes = (stat.S_IFREG, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFLNK)
    for name, size, mode, opened in itertools.product(("a.json", "a.bin"), LIMITS, modes, modes):
        file, seen = _File(size), []
        flags = (
            {"O_NONBLOCK": 4, "O_BINARY": 8, "O_NOFOLLOW": 16} if opened == mode else {}
        )  # not every system has them
        with _replaced(
            m, os=_system(size, mode, opened, seen, flags), open=lambda *a, f=file, s=seen: s.append(a[1:]) or f
        ):
            out.append((_said(lambda n=name: len(m.read_file("folder", n))), file.asked, seen))
    return out


def _system(size: int, mode: int, opened: int, seen: list[Any], flags: dict[str, int]) -> SimpleNamespace:
    """An `os` with one file that is of one kind when it is looked at, and of another when it is open."""

    def look(_: Any, mode: int = mode) -> SimpleNamespace:
        return SimpleNamespace(st_mode=mode, st_size=size)

    def start(path: str, with_flags: int) -> int:
        seen.append((path, with_flags))
        return 3

    return SimpleNamespace(
        path=os.path, lstat=look, fstat=functools.partial(look, mode=opened), open=start, O_RDONLY=0, **flags
    )


def grown_files(loaded: SimpleNamespace) -> Any:
    """A file that grows while it is read."""
    m, out = loaded.check, []
    for name, size in itertools.product(("a.json", "a.bin"), LIMITS[:-1]):
        fake = _system(size, stat.S_IFREG, stat.S_IFREG, [], {})
        with _replaced(m, os=fake, open=lambda *_, s=size: _File(s, s + 9)):
            out.append(_said(lambda n=name: len(m.read_file("folder", n))))
    return out


def strict_texts(loaded: SimpleNamespace) -> Any:
    """JSON at the limits."""
    return _json(loaded.check.parse)


def little_types(loaded: SimpleNamespace) -> Any:
    """What counts as a whole number, texts, an object."""
    m = loaded.check
    values = [
        0,
        1,
        -1,
        True,
        m.real("1.0"),
        "1",
        None,
        [],
        ["a"],
        ["a", 1],
        "ab",
        {},
        {"a": 1},
        {"b": 1},
        {"a": 1, "b": 2},
        [-1],
        [True],
    ]
    return [(m.is_int(v), m.is_texts(v), m.is_sizes(v), m.is_object(v, "a"), m.is_object(v)) for v in values]


def scales(loaded: SimpleNamespace) -> Any:
    """Floats as whole numbers."""
    m = loaded.check
    values = [F(v) for v in (0.0, 1.0, -1.5, 0.1, 2.0**-1074, 1e300, -(2.0**-30))]
    return [(m.exponent([v]), m.whole(v, 1 << 1080), m.whole(v, 3 << 1080)) for v in values] + [
        m.exponent([]),
        m.exponent(values),
    ]


def numbers_of_claims(loaded: SimpleNamespace) -> Any:
    """Rationals as text."""
    texts = [
        "0",
        "-0",
        "1/3",
        "-2/6",
        "1/0",
        "1/000",
        "1/01",
        "1e3",
        "",
        "/",
        "1/",
        "+1",
        "1" * 400,
        "1" * 401,
        "1/" + "2" * 400,
        "1/" + "2" * 401,
        " 1",
        "1\n",
    ]
    return [_said(lambda t=t: loaded.check.rational(t)) for t in texts]


def rows_of_claims(loaded: SimpleNamespace) -> Any:
    """Rows whose numbers are not texts."""
    out = []
    for coef, rhs in itertools.product(("1", "2/3", 1, None, [], 0.5, "x"), ("1", 1, None, {}, "1/0")):
        rows = [{"terms": [[coef, 0, "in", "x"]], "op": "<=", "rhs": rhs}]
        out.append(_said(lambda r=rows: loaded.check.read_rows(r, 1, ("in",))))
    return out


def maxima_of_one(loaded: SimpleNamespace) -> Any:
    """single at all small numbers."""
    m = loaded.check
    return [
        m.single(a, b, k, t)
        for a, b in itertools.combinations_with_replacement(range(-3, 4), 2)
        for k in range(-2, 3)
        for t in range(-2, 3)
    ]


def maxima_of_two(loaded: SimpleNamespace) -> Any:
    """joint and corner at many small numbers."""
    m, rng, out = loaded.check, random.Random(0), []
    while len(out) < 6000:
        a, c, low = rng.randint(-6, 5), rng.randint(-6, 5), rng.randint(-6, 5)
        values = (a, a + rng.randint(0, 7), c, c + rng.randint(0, 7), low, low + rng.randint(0, 5))
        slopes = [rng.randint(-4, 4) for _ in range(4)]
        out.append(m.joint(*values, *slopes))
        grid = [(x, y) for x in range(a, values[1] + 1) for y in range(c, values[3] + 1) if low <= x - y <= values[5]]
        if grid and len(out) % 3 == 0:
            xs, ys, ds = [x for x, _ in grid], [y for _, y in grid], [x - y for x, y in grid]
            out.append(m.corner(slopes[0], slopes[2], min(xs), max(xs), min(ys), max(ys), min(ds), max(ds)))
    return out


def order_of_points(loaded: SimpleNamespace) -> Any:
    """Fractions compared by cross-multiplication."""
    points = [(n, d) for n in range(-3, 4) for d in (1, 2, 3)]
    signs = [loaded.check.compare(p, q) for p in points for q in points]
    return [(s > 0) - (s < 0) for s in signs]


def _groups(m: Any, k: int, size: int, seed: int) -> Any:
    """A cell of one group, filled in by hand."""
    rng = random.Random(seed)
    cell = object.__new__(m.Cell)
    cell.k, cell.x = k, 1
    cell.groups = [range(size)]
    cell.allowed = [[rng.choice([rng.randrange(1, 1 << size), (1 << size) - 1])] for _ in range(k)]
    cell.pinned = [rng.random() < 0.4 for _ in range(size)]
    strips = [
        (0, 0) if cell.pinned[i] else rng.choice([(-1, 1), (-1, 0), (0, 1), (1, 1), (-1, -1), (0, 0), (-1, 1)])
        for i in range(size)
    ]
    cell.down, cell.same, cell.up = ([low <= v <= high for low, high in strips] for v in (-1, 0, 1))
    values = [[rng.randint(-5, 5) for _ in range(size)] for _ in range(k)]
    return cell.members(0, 0), cell.group_max(values, 0)


def maxima_of_groups(loaded: SimpleNamespace) -> Any:
    """group_max with all kinds of strips and pins."""
    return [_groups(loaded.check, k, size, seed) for k in (1, 2, 3) for size in (1, 2, 3, 4) for seed in range(150)]


def layouts(loaded: SimpleNamespace) -> Any:
    """safetensors headers, also of many megabytes by name."""
    m, out = loaded.check, []

    def file(header: Any, body: bytes, size: int | None = None) -> bytes:
        text = json.dumps(header).encode() if not isinstance(header, bytes) else header
        return struct.pack("<Q", len(text) if size is None else size) + text + body

    def tensor(a: Any, b: Any, **more: Any) -> dict[str, Any]:
        return {"dtype": "F64", "shape": [], "data_offsets": [a, b]} | more

    for data in (
        b"",
        b"\0" * 7,
        b"\0" * 8,
        file({}, b""),
        file({}, b"x"),
        file({"a": tensor(0, 1)}, b"x"),
        file({"a": tensor(0, 1)}, b"xy"),
        file({"a": tensor(0, 2)}, b"x"),
        file({"a": tensor(0, 1), "b": tensor(1, 3)}, b"xyz"),
        file({"b": tensor(1, 3), "a": tensor(0, 1)}, b"xyz"),
        file({"a": tensor(0, 2), "b": tensor(1, 3)}, b"xyz"),
        file({"a": tensor(0, 1), "b": tensor(2, 3)}, b"xyz"),
        file({"a": tensor(1, 0)}, b"x"),
        file({"a": tensor(0, 0), "b": tensor(0, 1)}, b"x"),
        file({"b": tensor(0, 1), "a": tensor(0, 0)}, b"x"),
        file({"backbone.a": tensor(0, 1), "b": tensor(1, 2)}, b"xy"),
        file({"__metadata__": {}, "b": tensor(0, 2)}, b"xy"),
        file({"a": 1}, b""),
        file([], b""),
        file({"a": {}}, b""),
        file({"a": tensor(True, 1)}, b"x"),
        file({"a": tensor(0.0, 1)}, b"x"),
        file({"a": tensor(0, 1.0)}, b"x"),
        file({"a": {"dtype": 1, "shape": 1, "data_offsets": [0]}}, b""),
        file({}, b"", 2),
        file({}, b"", 3),
        file({}, b"", 1 << 40),
        file({"a": tensor(0, 1)}, b"x", 9),
        file({"a": {"dtype": 1, "shape": 1, "data_offsets": 7}}, b""),
        file({"a": {"dtype": 1, "shape": 1, "data_offsets": [0, 1, 2]}}, b"x"),
        file({"a": {"dtype": "F64", "data_offsets": [0, 0]}}, b""),
    ):
        out.append(_said(lambda d=data: m.tensors_of(d)))

    class Claimed(bytes):
        """Bytes whose length is said to be larger: only the comparison is of interest."""

        def __len__(self) -> int:
            return 1 << 30

    for size in ((16 << 20) - 1, 16 << 20, (16 << 20) + 1):
        out.append(_said(lambda s=size: m.tensors_of(Claimed(struct.pack("<Q", s) + b"{"))))
    return out


def words(loaded: SimpleNamespace) -> Any:
    """Numbers and names for people."""
    m = loaded.check
    values = [
        F(v)
        for v in (
            "0",
            "7",
            "-5/4",
            "1/10",
            "-1/3",
            "1/1024",
            "123456789/1000",
            "-1/1000000",
            "99999999/7",
            "-99999999/7",
        )
    ]
    values += [F(1, 2**30), F(1, 2**31), F(1, 10**30), F(1, 10**31), F(10) ** 400, -(F(10) ** -400), F(10) ** -7]
    names = ["a", "a1", "1a", "_", "é", "a b", "", 'a"b', "out", "a.b"]
    rows = [
        ([], "<=", F(0)),
        (
            [(F(1), 0, "in", "x"), (F(-1), 1, "out", ""), (F(-3, 2), 2, "out", "y"), (F(2), 3, "in", "a b")],
            "==",
            F(-1, 3),
        ),
    ]
    rows += [
        ([(F(-1), 0, "out", "")], "<=", F(1)),
        ([(F(-2), 0, "out", "")], "<=", F(1)),
        ([(F(1), 0, "out", "")], "<=", F(1)),
    ]

    def strips(count: int) -> list[Any]:
        """Two bounds on each of so many features, one row about two of them, one without terms."""
        out: list[Any] = [([], "<=", F(1)), ([(F(1), 0, "in", "f0"), (F(-1), 1, "in", "f1")], "<=", F(2))]
        for i in range(count):
            out += [([(F(s), 0, "in", f"f{i}"), (F(-s), 1, "in", f"f{i}")], "<=", F(2)) for s in (1, -1)]
        return [*out, ([(F(1), 0, "in", "f0")], "==", F(3))]

    return (
        [m.number(v) for v in values],
        [m.decimal(v) for v in values],
        [m.access(n) for n in names],
        [m.row_text(r) for r in rows],
        [m.row_texts(strips(count)) for count in (2, 8, 9, 12)],
    )


def reports(loaded: SimpleNamespace) -> Any:
    """Reports made by hand: what is printed where nothing, something and everything holds."""
    m, out = loaded.check, []
    names = ("0123456789abcdef0123", "f64-aux", ("x\t",))
    for bound, margin, rhs, room in (
        (1, 1, 3, 0),
        (1, 1, 2, 0),
        (2, 1, 2, 0),
        (-1, 0, -1, 0),
        (2, 1, 2, 1),
        (2, 1, 2, F(1, 2)),
        (1, 0, 2, 9),
    ):
        line = m.RowReport("row\n", "leaf", F(bound), F(margin), F(rhs), F(room))
        for status, version in itertools.product(("certified", "unknown"), (1, 2)):
            for sentence, meaning in itertools.product(("", "A\x1b sentence."), ((), ('the "price"', "\u202e"))):
                claim = m.ClaimReport("claim", sentence, (line, line))
                report = m.Report(status, "", *names, (claim,), version, meaning)
                out.append((report.lines(), report.to_json(), report.excess, report.exit_code, line.excess, line.holds))
    plain = m.RowReport("", "", F(-1), F(3), F(5, 7))
    said = plain.room, plain.excess, plain.holds, m.Report("refused").version, m.Report("refused").meaning
    refused = m.Report("refused", "no\nreason")
    return out, said, refused.lines(), refused.to_json(), m.Report("refused").excess, m.Report("unreadable").exit_code


def command(loaded: SimpleNamespace) -> Any:
    """The command line."""
    main = loaded.check.main
    return [
        _printed(main, arguments, encoding)
        for arguments in (
            [],
            ["a", "b"],
            ["no such folder"],
            ["nul\0l"],
            ["--json"],
            ["--json", "no such folder"],
            ["no such folder", "--json"],
            ["--json", "a", "b"],
        )
        for encoding in ("utf-8", "ascii")
    ]


def ranges(loaded: SimpleNamespace) -> Any:
    """range_of with the smallest numbers there are."""
    m, out = loaded.check, []
    cell = object.__new__(m.Cell)
    cell.groups, cell.ends = [range(2, 4)], {0: (), 1: ()}
    cell.x, cell.allowed = 1, [[3]]
    cell.lo, cell.hi = [[-3, 1, 0, 0]], [[5, 2, 1, 1]]
    for slope in itertools.product((-2, -1, 0, 1, 2), repeat=4):
        out.append(cell.range_of(list(slope), 7, 0))
    return out


SPREADS = [
    (-3, 5, -1, 2, False, False),
    (F(1, 3), 2, 0, 1, True, False),
    (-2, -1, F(-1, 2), 0, False, True),
    (1, 1, 0, 0, True, True),
    (0, 7, -7, 7, False, False),
    (-9, 0, -9, 0, False, True),
    (4, 6, 0, 2, True, False),
    (F(-1, 7), F(1, 9), F(-1, 4), F(1, 5), False, False),
    (-(10**300), 10**300, -1, 10**300, False, False),
]
BIG = (0, 2**1000 - 1, 0, 1, True, False)
LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("ramps", {"source": [0, 1, 2, 3, 8], "start": [0.5, -1.0, 4.0, 1.0, 3.0], "rate": [0.25, 3.0, 1.0, 1e-3, 7.0]}),
    ("ramps", {"source": [5, 6, 7, 4], "start": [-0.1, 2.0, 9.0, 0.0], "rate": [0.1, 0.2, 0.3, 5e-324]}),
    ("linear", {"rows": [[1.0, -2.0, 0.0, 0.5, 3.0, -1.0, 0.1, 1.0, 1e-300]] * 2, "bias": [0.0, -1.25]}),
    ("linear", {"rows": [[0.0] * 9, [1.0] * 9, [-1.0] * 9], "bias": [1.0, 0.1, -2.0]}),
    (
        "linear",
        {
            "rows": [[0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 2.0, 0.0, 0.0], [0.0, -1.0, 0.0, 5.0, 0.0, 1.0, *[0.0] * 3]],
            "bias": [1.0, -7.0],
        },
    ),
    ("kinks", {"convex": 0}),
    ("kinks", {"convex": 4}),
    ("kinks", {"convex": 9}),
    ("pool", {"side": 3, "block": 1, "inputs": 9}),
    ("pool", {"side": 3, "block": 3, "inputs": 9}),
    ("distance", {"rows": [[1.0, -2.0, 0.0, 0.5, 3.0, -1.0, 0.1, 1.0, -4.0], [0.0] * 9], "bias": [0.25, -3.0]}),
    ("pinned", {"outputs": 2}),
    ("pinned", {"outputs": 1}),
]


WIDE: list[tuple[str, dict[str, Any]]] = [
    *(
        ("ramps", {"source": [0], "start": [start], "rate": [rate]})
        for start, rate in ((0.0, 1.0), (-1.0, 0.5), (-2.0, 0.5), (0.0, 2.0))
    ),
    ("linear", {"rows": [[1.0]], "bias": [0.0]}),
    ("linear", {"rows": [[0.5]], "bias": [0.0]}),
    ("distance", {"rows": [[0.0]], "bias": [0.0]}),
    ("kinks", {"convex": 1}),
]


# sums that overflow on the way although their range does not, each on so many spreads of that size
ON_THE_WAY: list[tuple[str, dict[str, Any], int]] = [
    ("linear", {"rows": [[1.0, -1.0]], "bias": [0.0]}, 2),
    ("linear", {"rows": [[0.5, -0.25]], "bias": [0.0]}, 2),
    ("linear", {"rows": [[0.5, -0.5]], "bias": [0.0]}, 2),
    ("pool", {"side": 2, "block": 2, "inputs": 4}, 4),
    ("pool", {"side": 1, "block": 1, "inputs": 1}, 1),
]


NORMS = (None, F(1, 2), F(1000))  # of all differences together, before a layer of distances


def _several(given: list[Any]) -> list[list[Any]]:
    """Spreads for nine inputs: mixed, equal, rising, falling."""
    rising, falling = [given[1], given[3], given[6]], [given[2], given[3], given[5]]
    return [given, [given[3]] * 9, given[::-1], rising * 3, falling * 3, [given[1], *[given[3]] * 8]]


def _spread(spread: Any) -> Any:
    return spread.lo, spread.hi, spread.low, spread.high, spread.rises, spread.falls, getattr(spread, "size", None)


def _settled(settled: Callable[..., Any]) -> list[Any]:
    ends = [(a, b) for a in (-3, -1, 0, 2) for b in (-1, 0, 1, 4) if a <= b]
    moves = [(a, b) for a in (-5, -1, 0, 1) for b in (-1, 0, 2, 9)]
    ways = list(itertools.product((False, True), repeat=2))
    small = [_spread(settled(*map(F, (*e, *m)), *w)) for e in ends for m in moves for w in ways]
    far = [(a, b) for a in (-(2**1000), 1 - 2**1000, 0) for b in (0, 2**1000 - 1, 2**1000)]
    return small + [_said(lambda e=e: _spread(settled(F(e[0]), F(e[1]), F(0), F(0), False, False))) for e in far]


def layers_of_encoders(loaded: SimpleNamespace) -> Any:
    """Every layer on spreads made by hand, exact, and at the limits of size."""
    m, out = loaded.check, []
    encoder = object.__new__(m.Encoder)

    def ask(kind: str, layer: dict[str, Any], y: list[Any]) -> Any:
        """The rows of a layer are whole numbers over 2^1074 there, its other numbers fractions."""
        exact = {key: [F(v) for v in layer[key]] for key in ("start", "rate", "bias") if key in layer}
        rows = [[int(F(v) * 2**1074) for v in row] for row in layer.get("rows", ())]
        described, read = layer | exact | {"rows": rows, "e": 1074}, getattr(encoder, kind)
        norms = [(norm,) for norm in NORMS] if kind == "distance" else [()]
        return [_said(lambda norm=norm: [_spread(s) for s in read(described, y, *norm)]) for norm in norms]

    given = [m.Spread(*(F(v) if not isinstance(v, bool) else v for v in s)) for s in SPREADS]
    wide = m.Spread(*(F(v) if not isinstance(v, bool) else v for v in BIG))
    for kind, layer in LAYERS:
        for y in _several(given):
            out.append(ask(kind, layer, y))
    four = {"side": 4, "block": 2, "inputs": 16}
    out.append([_spread(s) for s in encoder.pool(four, [*given, *given[:7]])])
    for kind, layer, count in (*((k, a, 1) for k, a in WIDE), *ON_THE_WAY):
        out.append(ask(kind, layer, [wide] * count))
    encoder.lo, encoder.hi = [F(-1), F(1, 2), F(6)], [F(1), F(1, 2), F(9)]
    out += [_spread(encoder.cut(s, at)) for s in given for at in range(3)]
    for bits in ((1 << 13) - 1, 1 << 13):
        ends = itertools.permutations([F(0), F(0), F(0), F(1, 1 << bits)])
        out += [_said(lambda e=e, w=w: _spread(m.settled(*e, w, w))) for e in ends for w in (False, True)]
    return out, _settled(m.settled)


def premises_of_encoders(loaded: SimpleNamespace) -> Any:
    """What an encoder is given of a premise, and what is made of its answer."""
    m, out = loaded.check, []
    spreads = [
        SimpleNamespace(lo=F(-5), hi=F(6), low=F(-1), high=F(2), rises=rises, falls=falls)
        for rises, falls in ((True, True), (True, False), (False, True), (False, False))
    ]
    strips = ((-1, 2), (0, 2), (-2, 0), (1, 2), (-2, -1), (-2, 1), (-1, 1))
    for k, strip, point in itertools.product((1, 2, 3), strips, (False, True)):
        seen: list[Any] = []
        encoder = SimpleNamespace(
            source=[None, 0, None, 2, None, None],
            place={0: 1, 2: 3},
            spreads=lambda start, axes, seen=seen: (
                seen.append(([_spread(s) for s in start], axes)) or ([*spreads, *spreads[:2]], ["parts"])
            ),
        )
        premise = object.__new__(m.Premise)
        premise.k, premise.net = k, SimpleNamespace(given=SimpleNamespace(m=3, grouped={2}))
        premise.lo = [[F(-c), F(c), F(0)] for c in range(k)]
        premise.hi = [[F(7 - c), F(9 + c), F(1)] for c in range(k)]
        if point:  # one value, and still not the same in all copies by what is said of them
            premise.lo = premise.hi = [[F(3), F(4), F(0)]] * k
        premise.delta = [tuple(map(F, strip))] * 3 if k == 2 else []
        premise.pinned = [False, k > 1, False]
        premise.axes = {0: F(1, 2), 1: F(1, 3)} if k == 2 else {}
        premise.extra = [
            ({(0, 0): F(1)}, F(1), True),
            ({(0, 1): F(1)}, F(2), False),
            ({(0, 0): F(3), (0, 2): F(1)}, F(4), False),
        ]
        premise.encode(encoder)
        out.append((seen, premise.lo, premise.hi, premise.delta, premise.pinned, premise.extra))
        out.append((premise.axes, premise.parts))
    encoder = object.__new__(m.Encoder)
    boxes = [tuple(map(F, box)) for box in ((0, 1, 0.5, 3), (-2, 2, 0, 1), (1, 5, -3, 0.1))]
    encoder.given = SimpleNamespace(
        shift=[b[2] for b in boxes], mult=[b[3] for b in boxes], scale=[m.scaler(*b) for b in boxes]
    )
    for i, ways in itertools.product(range(3), itertools.product((False, True), repeat=2)):
        for low, high in ((-1, 2), (F(-1, 3), F(1, 7)), (1, 2)):
            out.append(_spread(encoder.scaled(i, m.Spread(F(0), F(1), F(low), F(high), *ways))))
    return out


def reference_layers(loaded: SimpleNamespace) -> Any:
    """Every layer on spreads made by hand, exact, and at the limits of size."""
    m, out = loaded.exact_encoder, []
    given = [m.Spread(*(F(v) if not isinstance(v, bool) else v for v in s)) for s in SPREADS]
    wide = m.Spread(*(F(v) if not isinstance(v, bool) else v for v in BIG))

    def ask(kind: str, layer: dict[str, Any], y: list[Any]) -> Any:
        rows = {
            "weight": layer.get("rows"),
            "bias": [layer.get("bias")],
            "start": [layer.get("start")],
            "rate": [layer.get("rate")],
        }
        described = SimpleNamespace(**{"source": (), "convex": 0, "block": 1, "inputs": 9, "outputs": 1} | layer)

        def tensors(name: str) -> Any:
            return [[F(v) for v in row] for row in rows[name]]

        if kind == "distance":
            read = [lambda norm=norm: m._distance(described, tensors, y, norm) for norm in NORMS]
        else:
            read = [lambda: m.LAYERS[kind](described, tensors, y)]
        return [_said(lambda one=one: [_spread(s) for s in one()]) for one in read]

    for kind, layer in LAYERS:
        for y in _several(given):
            out.append(ask(kind, layer, y))
    out.append(ask("pool", {"side": 4, "block": 2, "inputs": 16}, [*given, *given[:7]]))
    for kind, layer, count in (*((k, a, 1) for k, a in WIDE), *ON_THE_WAY):
        out.append(ask(kind, layer, [wide] * count))
    out += [_spread(m.boxed(s, F(lo), F(hi))) for s in given for lo, hi in ((-1, 1), (F(1, 2), F(1, 2)), (6, 9))]
    for bits in (m.MOST_BITS - 1, m.MOST_BITS, m.MOST_BITS + 1):
        tiny = F(1, 1 << bits)
        out += [
            _said(lambda a=a, w=w: _spread(m.settled(*a, w, w)))
            for a in itertools.permutations([F(0), F(0), F(0), tiny])
            for w in (False, True)
        ]
    return out, _settled(m.settled)


def reference_inputs(loaded: SimpleNamespace) -> Any:
    """What an encoder is given of a premise, and what is made of its answer."""
    m, out = loaded.exact_encoder, []
    domain = loaded.exact_net.Domain(
        ("x", "y", "g"),
        (F(0), F(-2), F(0)),
        (F(1), F(2), F(1)),
        (F(1, 2), F(0), F(0)),
        (F(3), F(1), F(1)),
        (False, False, True),
        ((2,),),
        {},
        ("", "", ""),
    )
    spreads = [
        m.Spread(F(-5), F(6), F(-1) if not rises else F(0), F(2) if not falls else F(0), rises, falls)
        for rises, falls in ((True, True), (True, False), (False, True), (False, False))
    ]
    branches = (SimpleNamespace(layers=(), columns=(1,)), SimpleNamespace(layers=(1,), columns=(0,)))
    inner = SimpleNamespace(lo=(F(-9),) * 5, hi=(F(9),) * 5, whole=(False,) * 5)
    net = SimpleNamespace(domain=domain, encoder=branches, inner=inner, passed={1: 0})
    strips = ((-1, 2), (0, 2), (-2, 0), (1, 2), (-2, -1), (-2, 1), (-1, 1))
    for k, strip, pinned in itertools.product((1, 2, 3), strips, (False, True)):
        lo, hi = [[F(-c), F(c), F(0)] for c in range(k)], [[F(7 - c), F(9 + c), F(1)] for c in range(k)]
        sides = [[F(v)] * 3 if k == 2 else [] for v in strip]
        rows = [loaded.exact_premise.ExtraRow({(0, i): F(1)}, F(1), False, F(0)) for i in (0, 1)]
        ball = {0: F(1, 2), 1: F(1, 3)} if k == 2 else {}
        premise = loaded.exact_premise.Premise(
            domain, k, [False, False, True], lo, hi, [pinned and k > 1, False, False], *sides, rows, ball
        )
        out.append([_spread(s) for s in m.inputs(net, premise)])
        with _replaced(m, outputs=lambda *given: (spreads, given[3])):
            made = m.encoded(net, premise)
        parts = [(part.places, part.reach.axes, part.reach.rest) for part in made.parts]
        out.append((made.ball, parts))
        out.append((made.lo, made.hi, made.pinned, made.strip_lo, made.strip_hi, [row.coef for row in made.extra]))
    return out


def errors_of_sums(loaded: SimpleNamespace) -> Any:
    """LIN with and without inputs, and at the limits of size."""
    m, out = loaded.check, []
    for e, rows, bias, inputs, scales in (
        (3, [[1, -2], [0, 5]], [4, -4], [(F(1, 3), F(1, 9)), (F(7), F(0))], ()),
        (0, [[]], [5], [], ()),
        (1, [[3]], [0], [(F(2), F(1))], [0.25]),
        (1, [[3]], [0], [(F(2), F(1))], [4.0]),
        (0, [[1]], [0], [(F(1 << 999), F(0))], ()),
        (0, [[1]], [0], [(F(1 << 1000), F(0))], ()),
        (0, [[1]], [1 << 1000], [(F(0), F(0))], ()),
        (0, [[1]], [0], [(F(1 << 990), F(0))], [2.0**-9]),
        (0, [[1]], [0], [(F(1 << 990), F(0))], [2.0**-11]),
        (0, [[1]], [0], [(F(1 << 1000), F(0))], [2.0**11]),
    ):
        given = SimpleNamespace(e=e), rows, bias, inputs, [F(scale) for scale in scales]
        out.append(_said(lambda a=given: m.lin(*a)))
    return out


FAST = [
    constants,
    layers_of_encoders,
    premises_of_encoders,
    ranges,
    sizes_of_files,
    grown_files,
    strict_texts,
    little_types,
    scales,
    numbers_of_claims,
    rows_of_claims,
    maxima_of_one,
    order_of_points,
    maxima_of_groups,
    layouts,
    words,
    reports,
    command,
    errors_of_sums,
    maxima_of_two,
]


# ---- the reference checker -------------------------------------------------------------------------------------------


def reference_constants(loaded: SimpleNamespace) -> Any:
    """Numbers that docs/certificate.md fixes."""
    r, s, e, c = loaded.reader, loaded.strict, loaded.exact_model, loaded.check_reference
    return (
        s.LARGEST_FILE,
        s.LARGEST_JSON,
        s.LARGEST_HEADER,
        s.LONGEST_NUMBER,
        s.DEEPEST,
        r.MOST_NODES,
        r.MOST_WORK,
        loaded.exact_claims.LARGEST_DENOMINATOR,
        loaded.exact_claims.SHARE,
        loaded.exact_work.MOST_DIGITS,
        loaded.exact_work.COORDINATE_DIGITS,
        loaded.exact_work.SLOPE_DIGITS,
        loaded.exact_folder.NEEDED,
        loaded.exact_net.MOST_LAYERS,
        e.U,
        e.ETA,
        e.LARGEST,
        c.EXIT,
        loaded.exact_tree.ALL,
    )


def reference_files(loaded: SimpleNamespace) -> Any:
    """How much is read of files of all sizes, and what is refused; flags of opening."""
    m, out = loaded.strict, []
    for limit, size, mode, given in itertools.product(
        (64 << 20, 1 << 30), LIMITS, (stat.S_IFREG, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFLNK), (0, 1, -1)
    ):
        file, seen = _File(size, max(0, size + given)), []

        def opened(path: Any, flags: int, seen: list[Any] = seen) -> int:
            seen.append(flags)
            return 3

        flags = {"O_NONBLOCK": 4, "O_BINARY": 8, "O_NOFOLLOW": 16} if given else {}  # some systems have none of them
        kind = SimpleNamespace(st_mode=mode, st_size=size)
        fake = SimpleNamespace(open=opened, O_RDONLY=0, fstat=lambda _, k=kind: k, lstat=lambda _, k=kind: k, **flags)
        with _replaced(m, os=fake, open=lambda *_, f=file: f):
            out.append((_said(lambda lim=limit: len(m.read_file(Path("f.json"), lim))), file.asked, seen))
    return out


def reference_texts(loaded: SimpleNamespace) -> Any:
    """JSON at the limits."""
    return _json(loaded.strict.parse_json)


def reference_numbers(loaded: SimpleNamespace) -> Any:
    """Rationals as text, and their common denominator."""
    m, out = loaded.exact_claims, []
    texts = [
        "0",
        "-0",
        "1/3",
        "-2/6",
        "1/0",
        "1/000",
        "1/01",
        "1e3",
        "",
        "/",
        "1/",
        "+1",
        "1" * 400,
        "1" * 401,
        "1/" + "2" * 400,
        "1/" + "2" * 401,
        " 1",
        "1\n",
        1,
        None,
        "100/100",
    ]
    for text in texts:
        common = [1]
        out.append((_said(lambda t=text, c=common: m.shared_rational(t, c)), common))
    common = [10**999]
    seven = _said(lambda: m.shared_rational("1/7", [10**999 // 2]))
    return out, _said(lambda: m.shared_rational("1/10", common)), common, seven


def reference_types(loaded: SimpleNamespace) -> Any:
    """What counts as an object, a list, a text, a whole number, a float, a hash."""
    m, out = loaded.strict, []
    values = [
        0,
        5,
        6,
        -1,
        True,
        1.0,
        loaded.exact_floats.Double(1 << 62),
        "1",
        None,
        [],
        {},
        {"a": 1},
        "a" * 64,
        "A" * 64,
        "a" * 63,
        "g" * 64,
        "a" * 64 + "\n",
    ]
    for value in values:
        for ask in (
            lambda v: m.as_object(v, None, "it"),
            lambda v: m.as_object(v, {"a"}, "it"),
            lambda v: m.as_list(v, "it"),
            lambda v: m.as_text(v, "it"),
            lambda v: m.as_integer(v, 0, 5, "it"),
            lambda v: m.as_float(v, "it"),
            lambda v: m.as_hash(v, "it"),
        ):
            out.append(_said(lambda a=ask, v=value: a(v)))
    return out


def reference_layouts(loaded: SimpleNamespace) -> Any:
    """safetensors headers."""
    m, out = loaded.strict, []
    good = {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}
    for entry in (
        good,
        good | {"data_offsets": [16, 16]},
        good | {"data_offsets": [16, 0]},
        good | {"data_offsets": [-1, 0]},
        good | {"shape": [-1]},
        good | {"shape": []},
        good | {"shape": [0]},
        good | {"shape": [True]},
        good | {"shape": (2,)},
        good | {"dtype": 1},
        good | {"data_offsets": [0]},
        good | {"data_offsets": (0, 1)},
        good | {"data_offsets": [0, 1, 2]},
        good | {"more": 1},
        {"dtype": "F64"},
        [],
        None,
        good | {"data_offsets": [0, True]},
        good | {"data_offsets": [0, 0]},
    ):
        out.append(m._is_entry(entry))

    class Claimed(bytes):
        """Bytes whose length is said to be larger: only the comparison is of interest."""

        def __len__(self) -> int:
            return 1 << 30

    for size in ((16 << 20) - 1, 16 << 20, (16 << 20) + 1):
        out.append(_said(lambda s=size: m.tensors_of(Claimed(struct.pack("<Q", s) + b"{"))))
    for data in (
        b"",
        b"\0" * 7,
        b"\0" * 8,
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 3) + b"{}",
        struct.pack("<Q", 2) + b"{}x",
    ):
        out.append(_said(lambda d=data: m.tensors_of(d)))
    return out


def reference_polygons(loaded: SimpleNamespace) -> Any:
    """Vertices of S and maxima over them."""
    m, rng, out = loaded.exact_rules, random.Random(0), []
    for _ in range(700):
        a, c, low = rng.randint(-5, 4), rng.randint(-5, 4), rng.randint(-5, 4)
        points = m._vertices(
            (F(a), F(a + rng.randint(0, 6))), (F(c), F(c + rng.randint(0, 6))), (F(low), F(low + rng.randint(0, 4)))
        )
        pieces = [(F(rng.randint(-3, 3)), F(rng.randint(-3, 3))) for _ in range(2)]
        out.append((sorted(points), m._best(pieces, points) if points else None))
    for negative, positive in itertools.product((False, True), repeat=2):
        out.append([m._phased(F(a), F(b), (negative, positive)) for a in range(-2, 3) for b in range(-2, 3)])
    return out


def reference_pairs(loaded: SimpleNamespace) -> Any:
    """Allowed pairs of categories."""
    out = []
    for seed in range(300):
        rng = random.Random(seed)
        size = rng.randint(1, 4)
        strips = [rng.choice([(-1, 1), (-1, 0), (0, 1), (1, 1), (-1, -1), (0, 0)]) for _ in range(size)]
        cell = object.__new__(loaded.exact_premise.Cell)
        cell.groups = [tuple(range(size))]
        cell.allowed = [[tuple(p for p in range(size) if rng.random() < 0.8)] for _ in range(2)]
        cell.premise = SimpleNamespace(strip_lo=[F(a) for a, _ in strips], strip_hi=[F(b) for _, b in strips])
        out.append(sorted(cell.pairs(0)))
        lo, hi = (
            [F(rng.choice([-1, 0, 0, 1]), rng.choice([1, 2])) for _ in range(size)],
            [F(rng.choice([0, 1, 1, 2])) for _ in range(size)],
        )
        out.append(loaded.exact_premise._allowed(lo, hi, tuple(range(size))))
    return out


def reference_empty_premises(loaded: SimpleNamespace) -> Any:
    """Premises without a point, which a witness rules out: nothing is proved of them by having no leaf left."""
    domain = loaded.exact_net.Domain(("x",), (F(0),), (F(1),), (F(0),), (F(1),), (False,), (), {"x": (0,)}, ("",))
    net = SimpleNamespace(embedding=1, boxes="gap", domain=domain)
    piece = loaded.exact_model.Piece([F(0)], [[F(1)]], [[F(0)]])
    model = loaded.exact_model.Model(net, [[F(1)]], [F(0)], piece, piece, [[F(1)]], [F(0)], ([F(0)], [F(1)]))
    zero, one = [F(0)], [F(1)]
    psi = loaded.exact_model.Psi(F(0), [one] * 2, [zero] * 2, [zero] * 2, [one] * 2, [zero] * 2, F(9))
    out = []
    for lo, hi, low, high in (
        ((0, 0), (1, 1), 0, 0),
        ((1, 0), (0, 1), -1, 1),
        ((0, 0), (1, 1), 2, 3),
        ((0, 0), (1, 1), 1, 0),
    ):
        premise = loaded.exact_premise.Premise(
            domain, 2, [False], [[F(v)] for v in lo], [[F(v)] for v in hi], [False], [F(low)], [F(high)], []
        )
        proof = loaded.reader.Proof("leaf", 0, (), b"\0")
        budget = loaded.exact_tree.Budget(9, 99)
        out.append(
            _said(lambda a=(model, premise, psi): loaded.exact_rules.sweep_rule(*a, loaded.exact_tree.Budget(9, 999)))
        )
        out.append(_said(lambda a=(model, premise, psi, proof, budget): loaded.exact_rules.leaf_rule(*a)))
    return out


def reference_words(loaded: SimpleNamespace) -> Any:
    """Numbers and names for people."""
    m, r = loaded.exact_words, loaded.exact_claims
    values = [
        F(v)
        for v in (
            "0",
            "7",
            "-5/4",
            "1/10",
            "-1/3",
            "1/1024",
            "123456789/1000",
            "-1/1000000",
            "99999999/7",
            "-99999999/7",
        )
    ]
    values += [F(1, 2**30), F(1, 2**31), F(1, 10**30), F(1, 10**31), F(10) ** 400, -(F(10) ** 400), F(10) ** -7]
    names = [
        "a",
        "a1",
        "1a",
        "_",
        "é",
        "a b",
        "",
        'a"b',
        "out",
        "a.b",
        "a\\b",
        "\x1b",
        "\u202e",
        "\uffff",
        "\U000e0001",
        "\U0001bca0",
    ]
    terms = [
        r.Term(F(v), i % 4, output, 0, name)
        for i, (v, output, name) in enumerate(itertools.product(("1", "-1", "3/2", "-2", "0"), (False, True), names))
    ]
    rows = [r.Row(tuple(terms[i : i + n]), F(i, 3), bool(i % 2)) for i in range(0, len(terms), 3) for n in (0, 1, 3)]
    return (
        [m.number(v) for v in values],
        [m.rounded(v) for v in values],
        [m.at_most(v) for v in values],
        [m.clean(n) for n in names],
        [m.quoted(n) for n in names],
        [m.row_text(row) for row in rows],
    )


def reference_reports(loaded: SimpleNamespace) -> Any:
    """Reports made by hand."""
    m, out = loaded.check_reference, []
    for bound, margin, rhs, leaves in ((1, 1, 3, 0), (1, 1, 2, 1), (2, 1, 2, 2), (-1, 0, -1, 7)):
        line = m.RowReport("row", "leaf", F(bound), F(margin), F(rhs), leaves)
        for status in ("certified", "unknown"):
            for sentence in ("", "A\x1b sentence."):
                claim = m.ClaimReport(sentence, "claim", (line, m.RowReport("row", "leaf", F(0), F(0), F(0), 1)))
                report = m.Report(
                    status, "", (claim,), ("x",), "dyadic", version=1 + leaves % 2, meaning=("m",) * leaves
                )
                out.append((m._lines(report), report.excess, claim.holds, line.holds))
    return out, m._lines(m.Report("refused", "no\nreason")), m.Report("refused").excess


def reference_sums(loaded: SimpleNamespace) -> Any:
    """LIN, with and without inputs."""
    m, out = loaded.exact_model, []
    for w, b, size, error, eta in (
        ([1, -2], 4, [F(1, 3), F(7)], [F(1, 9), F(0)], m.ETA),
        ([], 5, [], [], F(1)),
        ([3], 0, [F(2)], [F(1)], F(1, 8)),
        ([1], 0, [F(1 << 999)], [F(0)], F(0)),
        ([1], 0, [F(1 << 1000)], [F(0)], F(0)),
        ([0], -(1 << 1000), [F(0)], [F(0)], F(0)),
    ):
        out.append(_said(lambda a=([F(v) for v in w], F(b), size, error, eta): m.lin(*a)))
    return (
        out,
        m.dot([F(1), F(0), F(2)], [F(3), F(4), F(0)]),
        _said(lambda: m.bounded(m.LARGEST)),
        m.bounded(m.LARGEST - 1),
    )


def reference_command(loaded: SimpleNamespace) -> Any:
    """The reference as a command: with arguments, with those of the process, on several terminals."""
    main, out = loaded.check_reference.main, []
    missing = os.path.join("no", "such", "folder", "\u00e9\u2203")
    for arguments in (["one", "two"], [], [missing]):
        for encoding in ("utf-8", "ascii", "latin-1"):
            out.append(_printed(main, arguments, encoding))
            before, sys.argv = sys.argv, ["program", *arguments]
            try:
                out.append(_printed(lambda _: main(), [], encoding))
            finally:
                sys.argv = before
    with _replaced(loaded.check_reference, _lines=lambda _: ["\u2200 \u00e9"]):
        out += [_printed(main, [missing], encoding) for encoding in ("utf-8", "latin-1", "ascii")]
    quiet = io.StringIO()  # a stream without an encoding
    before, sys.stdout = sys.stdout, quiet
    try:
        out.append(main([missing]))
    finally:
        sys.stdout = before
    return out, quiet.getvalue()


REFERENCE = [
    reference_constants,
    reference_files,
    reference_texts,
    reference_numbers,
    reference_types,
    reference_layouts,
    reference_pairs,
    reference_empty_premises,
    reference_layers,
    reference_inputs,
    reference_words,
    reference_reports,
    reference_command,
    reference_sums,
    reference_polygons,
]
