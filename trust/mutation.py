"""Mutation testing of the two checkers: one small fault is planted at a time, and the kill suite has to notice it.

    python -m trust.mutation fast FOLDERS [--jobs 2] [--only TEXT] [--out FILE]
    python -m trust.mutation reference FOLDERS …

`fast` is check.py; `reference` is all of reference/. FOLDERS holds model
folders (kill_suite.py). A mutant is *killed* if some check of the suite gives another answer than with the unchanged
checker, raises, or does not end in time; otherwise it *survived*. Faults are planted in the syntax tree; every mutant
runs in a forked process of its own, with limits on time and memory, is asked only what executes its line, and first
what killed its neighbours.

What is planted, wherever it makes sense:

    a < b      a <= b, a >= b, and so on for every relation; in, not in, ==, !=, is, is not
    a + b      a - b; * to +, // to *, << to >>, & to |, ** to *, % to *; -a to a, not a to a
    a and b    a or b; a; b
    1          2, 0; True to False; 0.5 to 1.5
    if a       if not a; likewise while, the conditional expression and the condition of a comprehension
    min(…)     max; any to all; floor to ceil; abs(x) to x; x.lo to x.hi; low to high; rise to fall; up to down
    f(…)       nothing: calls, raises, returns, += and assignments that something was assigned to before are left out

Left alone: annotations, decorators, docstrings, assertions (they narrow types), texts, `strict=True` of zip (it guards
against lists of different length, which is itself unreachable), and the reasons of refusals.

A mutant's key is ``function | statement | old → new``, the n-th of the same with #n: it survives edits elsewhere.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import math
import multiprocessing
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src" / "smilenn" / "certify"
# in the order in which they import one another
TARGETS = {
    "fast": ("check",),
    "reference": (
        "exact_floats",
        "strict",
        "exact_encoding",
        "exact_version2",
        "exact_version1",
        "exact_folder",
        "exact_trees",
        "exact_contract",
        "exact_norm",
        "exact_layers",
        "exact_net",
        "exact_claims",
        "reader",
        "exact_model",
        "exact_premise",
        "exact_encoder",
        "exact_dyadic",
        "exact_order",
        "exact_tree",
        "exact_rules",
        "exact_signs",
        "exact_ball",
        "exact_work",
        "exact_words",
        "check_reference",
    ),
}
MEMORY = 3 << 30


def place_of(name: str) -> str:
    """A module of a checker, under smilenn.certify: both have a file check.py, so the reference's have longer names."""
    if name == "check":
        return name
    return "reference." + ("check" if name == "check_reference" else name.removeprefix("exact_"))


LEAST = 0.95  # the share of faults that must be noticed
LEAST_SECONDS, SLOWER = 15, 20  # of processor time that a check has with a fault, and times what it takes without one

COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
}
NAMES = {}
for _a, _b in (
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("lo", "hi"),
    ("low", "high"),
    ("rise", "fall"),
    ("u_lo", "u_hi"),
    ("strip_lo", "strip_hi"),
    ("up", "down"),
    ("least", "most"),
):
    NAMES |= {_a: _b, _b: _a}
REFUSALS = {"need", "CheckError", "UnreadableError", "Refused", "Unreadable"}


@dataclass
class Mutant:
    """A planted fault: in `owner`, the child at `field` (and `index` of a list) becomes `new`.

    `top` is the module's statement that holds it, `lines` those of the innermost statement; none if it is executed when
    the module is loaded.
    """

    module: str
    top: int
    lines: range
    function: str
    key: str
    owner: ast.AST
    field: str
    index: int | None
    new: Any

    def swap(self) -> None:
        """Plant the fault; a second call takes it out again."""
        if self.index is None:
            old = getattr(self.owner, self.field)
            setattr(self.owner, self.field, self.new)
        else:
            children = getattr(self.owner, self.field)
            old, children[self.index] = children[self.index], self.new
        self.new = old


def _text(node: ast.AST, limit: int = 110) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _header(statement: ast.stmt) -> str:
    """A simple statement, or the first line of a compound one."""
    match statement:
        case ast.If(test=part) | ast.While(test=part):
            return f"{type(statement).__name__.lower()} {_text(part)}"
        case ast.For():
            return f"for {_text(statement.target)} in {_text(statement.iter)}"
        case ast.FunctionDef() | ast.ClassDef():
            return "def"
        case ast.With() | ast.Try():
            return type(statement).__name__.lower()
        case _:
            return _text(statement)


class Planter:
    """All mutants of one module."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.module, self.tree = module, tree
        self.found: list[Mutant] = []
        self.seen: dict[str, int] = {}
        self.inside = 0  # functions round the statement
        self.top, self.function, self.statement, self.lines = 0, "", "", range(0)

    def mutants(self) -> list[Mutant]:
        """Walk the whole module."""
        assigned: set[str] = set()
        for place, statement in enumerate(self.tree.body):
            self.top = place
            self._statement(self.tree, "body", self.top, statement, assigned)
        return self.found

    def _add(self, owner: ast.AST, field: str, index: int | None, new: Any, what: str) -> None:
        key = f"{self.function or 'module'} | {self.statement} | {what}"
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            key += f" #{self.seen[key]}"
        key = f"{self.module}: {key}"
        self.found.append(Mutant(self.module, self.top, self.lines, self.function, key, owner, field, index, new))

    def _replace(self, owner: ast.AST, field: str, index: int | None, old: ast.AST, new: ast.AST) -> None:
        ast.copy_location(new, old)
        ast.fix_missing_locations(new)
        self._add(owner, field, index, new, f"{_text(old)} → {_text(new)}")

    # -- statements

    def _body(self, owner: ast.AST, field: str, body: list[ast.stmt], assigned: set[str]) -> None:
        for place, statement in enumerate(body):
            self._statement(owner, field, place, statement, assigned)

    def _statement(self, owner: ast.AST, field: str, place: int, node: ast.stmt, assigned: set[str]) -> None:
        outer = self.function, self.statement
        self.statement = _header(node)
        self.lines = self._lines(node)
        nothing = ast.copy_location(ast.Pass(), node)
        inside = bool(self.function)
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                self.function = f"{self.function}.{node.name}" if self.function else node.name
                names: set[str] = set()
                if isinstance(node, ast.FunctionDef):
                    names = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
                    for defaults in ("defaults", "kw_defaults"):
                        self._list(node.args, defaults)
                self.inside += isinstance(node, ast.FunctionDef)
                self._body(node, "body", node.body, names)
                self.inside -= isinstance(node, ast.FunctionDef)
                self.function, self.statement = outer
                return
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass():
                return
            case ast.Expr(value=ast.Constant()):
                return  # a docstring
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                return
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
                self._add(owner, field, place, nothing, "left out")
            case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
                empty = ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), node)), node)
                self._add(owner, field, place, empty, "return None")
            case ast.Assign() | ast.AnnAssign(value=ast.expr()) if inside:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
                if all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets) or names <= assigned:
                    self._add(owner, field, place, nothing, "left out")
                assigned |= names
            case _:
                pass
        if isinstance(node, (ast.If, ast.While)):
            self._condition(node, "test", None, node.test)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "decorator_list", "returns", "type_comment", "targets", "target"):
                continue
            if name in ("body", "orelse", "finalbody"):
                header = self.statement
                self._body(node, name, value, assigned)
                self.statement, self.lines = header, self._lines(node)
            elif name == "handlers":
                for handler in value:
                    self._body(handler, "body", handler.body, assigned)
                self.lines = self._lines(node)
            elif isinstance(value, ast.expr):
                self._expression(node, name, None, value)
            elif isinstance(value, list):
                self._list(node, name)
            elif name == "op" and isinstance(node, ast.AugAssign) and type(node.op) in BINARY:
                other = BINARY[type(node.op)]()
                self._add(node, "op", None, other, f"{_text(node)} → {type(other).__name__}")
        self.function, self.statement = outer

    def _lines(self, node: ast.stmt) -> range:
        """Of a simple statement or of the head of a compound one; none outside of functions."""
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        inside = self.inside and not isinstance(node, ast.FunctionDef | ast.ClassDef)
        return range(node.lineno, max(end, node.lineno) + 1) if inside else range(0)

    # -- expressions

    def _list(self, owner: ast.AST, field: str) -> None:
        for place, value in enumerate(getattr(owner, field)):
            if isinstance(value, ast.expr):
                self._expression(owner, field, place, value)
            elif isinstance(value, ast.withitem):
                self._expression(value, "context_expr", None, value.context_expr)
            elif isinstance(value, ast.keyword) and value.arg not in ("strict",):
                self._expression(value, "value", None, value.value)
            elif isinstance(value, ast.comprehension):
                self._expression(value, "iter", None, value.iter)
                for at, test in enumerate(value.ifs):
                    self._replace(value, "ifs", at, test, ast.Constant(True))
                    self._condition(value, "ifs", at, test)
                    self._expression(value, "ifs", at, test)

    def _condition(self, owner: ast.AST, field: str, index: int | None, test: ast.expr) -> None:
        if not isinstance(test, (ast.Compare, ast.UnaryOp)) or (isinstance(test, ast.Compare) and len(test.ops) > 1):
            self._replace(owner, field, index, test, ast.UnaryOp(ast.Not(), test))

    def _expression(self, owner: ast.AST, field: str, index: int | None, node: ast.expr) -> None:
        def replace(new: ast.expr) -> None:
            self._replace(owner, field, index, node, new)

        match node:
            case ast.Compare():
                for at, op in enumerate(node.ops):
                    for other in COMPARE[type(op)]:
                        replace(
                            ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)
                        )
            case ast.BinOp() if type(node.op) in BINARY and not isinstance(node.left, ast.Constant | ast.JoinedStr):
                replace(ast.BinOp(node.left, BINARY[type(node.op)](), node.right))
            case ast.BinOp() if type(node.op) in BINARY and not isinstance(
                getattr(node.left, "value", ""), str | bytes
            ):
                replace(ast.BinOp(node.left, BINARY[type(node.op)](), node.right))
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                replace(node.operand)
            case ast.BoolOp():
                other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                replace(ast.BoolOp(other, node.values))
                for at in range(len(node.values)):
                    rest = [*node.values[:at], *node.values[at + 1 :]]
                    replace(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
            case ast.Constant(value=bool(value)):
                replace(ast.Constant(not value))
            case ast.Constant(value=int(value)) | ast.Constant(value=float(value)):
                replace(ast.Constant(value + 1))
                if not (value == 0 and isinstance(owner, ast.Subscript)) or isinstance(value, float):
                    replace(ast.Constant(value - 1))
            case ast.IfExp():
                self._condition(node, "test", None, node.test)
                replace(node.body)
                replace(node.orelse)
            case ast.Call(func=ast.Name(id="abs"), args=[one]):
                replace(one)
            case ast.Call(func=ast.Name(id="sorted"), args=[one, *_]):
                replace(ast.Call(ast.Name("list", ast.Load()), [one], []))
            case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
                replace(ast.Name(NAMES[name], ast.Load()))
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
                replace(ast.Attribute(node.value, NAMES[name], ast.Load()))
            case _:
                pass
        refusal = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSALS
        for name, value in ast.iter_fields(node):
            if refusal and name == "args":
                if isinstance(node, ast.Call) and node.func.id == "need":  # type: ignore[attr-defined]
                    self._expression(node, "args", 0, node.args[0])
            elif isinstance(node, ast.JoinedStr):
                for part in node.values:
                    if isinstance(part, ast.FormattedValue):
                        self._expression(part, "value", None, part.value)
            elif isinstance(value, ast.expr):
                self._expression(node, name, None, value)
            elif isinstance(value, list):
                self._list(node, name)


# ---- running --------------------------------------------------------------------------------------------------------


def _file(source: Path, name: str) -> Path:
    return source / f"{place_of(name).replace('.', '/')}.py"


@dataclass
class Program:
    """The modules of one checker: syntax trees and code of the unchanged ones."""

    target: str
    trees: dict[str, ast.Module]
    code: dict[str, CodeType]

    @classmethod
    def read(cls, target: str, source: Path = SOURCE) -> Program:
        """Parse the modules of a checker."""
        trees = {name: ast.parse(_file(source, name).read_text(encoding="utf-8")) for name in TARGETS[target]}
        return cls(target, trees, {name: compile(tree, f"{name}.py", "exec") for name, tree in trees.items()})

    def mutants(self) -> list[Mutant]:
        """All of them, in the order of the source."""
        return [mutant for name, tree in self.trees.items() for mutant in Planter(name, tree).mutants()]

    def load(self) -> SimpleNamespace:
        """Fresh modules, unchanged."""
        loaded = SimpleNamespace()
        for name, code in self.code.items():
            module = ModuleType(f"smilenn.certify.{place_of(name)}")
            sys.modules[module.__name__] = module  # dataclasses and the other modules look it up
            exec(code, module.__dict__)
            setattr(loaded, name, module)
        return loaded

    def plant(self, mutant: Mutant, loaded: SimpleNamespace) -> None:
        """Put a fault into loaded modules.

        Only the statement that holds it is executed again; whoever had imported its old value gets the new one. What
        was made from the old value when the modules were loaded would keep it (a class derived from it, a constant
        computed from it): then, and for faults that are no function or class, all of the program is executed again.
        """
        mutant.swap()
        tree, module = self.trees[mutant.module], vars(loaded)[mutant.module]
        statement = tree.body[mutant.top]
        derived = {
            base.id
            for other in tree.body
            if isinstance(other, ast.ClassDef)
            for base in other.bases
            if isinstance(base, ast.Name)
        }
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name not in derived:
            old = module.__dict__[statement.name]
            tables = [  # of functions, made when the module was loaded
                other
                for other in tree.body[mutant.top + 1 :]
                if isinstance(other, ast.Assign)
                and any(isinstance(n, ast.Name) and n.id == statement.name for n in ast.walk(other.value))
            ]
            exec(compile(ast.Module([statement, *tables], []), f"{mutant.module}.py", "exec"), module.__dict__)
            for other in vars(loaded).values():
                for name, value in list(vars(other).items()):
                    if value is old:
                        other.__dict__[name] = module.__dict__[statement.name]
            return
        code = self.code | {mutant.module: compile(tree, f"{mutant.module}.py", "exec")}
        vars(loaded).update(vars(Program(self.target, self.trees, code).load()))


@dataclass
class Outcome:
    """killed by a check (its name), by time, or not at all."""

    key: str
    killer: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.killer != ""


Check = tuple[str, Callable[[SimpleNamespace], Any]]


def answer(check: Callable[[SimpleNamespace], Any], loaded: SimpleNamespace) -> Any:
    """What a check says; an exception is an answer too, and none that the unchanged checker gives."""
    for module in vars(loaded).values():  # what is remembered from another check must not hide a fault
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()
    try:
        return check(loaded)
    except Exception as error:
        return f"raised {type(error).__name__}"


def baseline(loaded: SimpleNamespace, checks: list[Check]) -> tuple[list[Any], list[float]]:
    """The unchanged checker's answers, and what each takes; it must not raise."""
    wanted, seconds = [], []
    for name, check in checks:
        start = time.process_time()
        wanted.append(answer(check, loaded))
        seconds.append(time.process_time() - start)
        if isinstance(wanted[-1], str) and wanted[-1].startswith("raised "):
            raise SystemExit(f"The unchanged checker fails in the kill suite: {name} {wanted[-1]}")
    return wanted, seconds


def executed(
    loaded: SimpleNamespace, checks: list[Check], jobs: int = 1
) -> tuple[dict[tuple[str, int], int], list[tuple[int, int]]]:
    """A bit for every line (file, number); for each check the lines that it executes, and those it is refused in.

    A check cannot notice a fault in a line that it does not execute, and it is the likeliest to notice that a refusal
    is gone if it was refused there. Tracing takes several times as long as checking: `jobs` processes share it.
    """
    bits, out = dict[tuple[str, int], int](), []
    _traced[:] = [loaded, checks]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for seen in pool.imap(_lines, range(len(checks))):
            lines = refused = 0
            for file, line, raised in seen:
                bit = bits.setdefault((file, line), 1 << len(bits))
                lines |= bit
                refused |= bit if raised else 0
            out.append((lines, refused))
    _traced.clear()
    return bits, out


_traced: list[Any] = []  # the modules and the checks, for the processes that are forked


def _lines(place: int) -> list[tuple[str, int, bool]]:
    """The lines that a check executes, once each, and whether it left them by an exception."""
    loaded, checks = _traced
    files = {f"{name}.py" for name in vars(loaded)}
    seen: dict[tuple[str, int, bool], None] = {}

    def inside(frame: Any, event: str, _: Any) -> Any:
        seen[frame.f_code.co_filename, frame.f_lineno, event == "exception"] = None
        return inside

    def enter(frame: Any, event: str, _: Any) -> Any:
        return inside if frame.f_code.co_filename in files else None

    sys.settrace(enter)
    try:
        answer(checks[place][1], loaded)
    finally:
        sys.settrace(None)
    return list(seen)


def _child(
    program: Program,
    mutant: Mutant,
    loaded: SimpleNamespace,
    checks: list[Check],
    wanted: list[Any],
    order: list[int],
    costs: list[float],
    seconds: int,
) -> int:
    """Index + 1 of the check that kills, 0 if none does."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        program.plant(mutant, loaded)
    except Exception:
        return len(checks) + 1  # not even importable
    for at in order:
        signal.setitimer(signal.ITIMER_VIRTUAL, max(LEAST_SECONDS, SLOWER * costs[at]))  # its signal ends the process
        if answer(checks[at][1], loaded) != wanted[at]:
            return at + 1
    return 0


def run(
    program: Program,
    mutants: list[Mutant],
    checks: list[Check],
    *,
    jobs: int = 2,
    tell: Callable[[Outcome], None] = lambda outcome: None,
    hints: Iterable[Outcome] = (),
) -> list[Outcome]:
    """Every mutant against the suite, `jobs` at a time; `hints` are earlier outcomes: what killed there is tried first.

    A mutant has four times the processor time that the unchanged checker takes, and ten times that by the clock; for a
    single check it has 20 times what that takes, and 15 seconds at least.
    """
    loaded = program.load()
    wanted, costs = baseline(loaded, checks)
    seconds = max(LEAST_SECONDS, math.ceil(4 * sum(costs)))
    killers: dict[str, list[int]] = {}
    places = {name: place for place, (name, _) in enumerate(checks)}
    for outcome in hints:
        module, function = outcome.key.split(" | ")[0].split(": ")
        own = killers.setdefault(module + function, [])
        if outcome.killer in places and places[outcome.killer] not in own:
            own.append(places[outcome.killer])
    bits, reached = executed(loaded, checks, jobs)
    gc.collect()
    gc.freeze()  # a child that collects would touch, and so copy, all of the memory
    running: dict[int, tuple[Mutant, int, float]] = {}  # pipe: mutant, process, start
    outcomes: dict[str, Outcome] = {}
    queue = iter(mutants)
    while True:
        while len(running) < jobs and (mutant := next(queue, None)) is not None:
            lines = sum(bits.get((f"{mutant.module}.py", line), 0) for line in mutant.lines)
            fit = [i for i, (seen, _) in enumerate(reached) if not mutant.lines or lines & seen]
            fit.sort(key=costs.__getitem__)
            refused = [i for i in fit if lines & reached[i][1]]
            likely = [i for i in killers.get(mutant.module + mutant.function, []) if i in fit]
            order = list(dict.fromkeys([*likely[:3], *refused[:25], *likely, *fit]))
            reading, writing = os.pipe()
            process = os.fork()
            if not process:
                os.close(reading)
                try:
                    os.write(
                        writing, str(_child(program, mutant, loaded, checks, wanted, order, costs, seconds)).encode()
                    )
                except BaseException:  # memory, time: the parent reads nothing and calls it killed
                    os._exit(1)
                os._exit(0)
            os.close(writing)
            running[reading] = (mutant, process, time.monotonic())
        if not running:
            return [outcomes[mutant.key] for mutant in mutants]
        ready, _, _ = select.select(list(running), [], [], 1.0)
        late = [r for r, (_, _, start) in running.items() if time.monotonic() - start > 10 * seconds and r not in ready]
        for pipe in (*ready, *late):
            mutant, process, start = running.pop(pipe)
            if pipe in late:
                os.kill(process, signal.SIGKILL)
            said = os.read(pipe, 32).decode() if pipe in ready else ""
            os.close(pipe)
            os.waitpid(process, 0)
            place = int(said) - 1 if said else -2
            if 0 <= place < len(checks):
                first = killers.setdefault(mutant.module + mutant.function, [])
                if place in first:
                    first.remove(place)
                first.insert(0, place)
                del first[12:]
            name = (
                {-2: "time or memory", -1: "", len(checks): "import"}.get(place)
                if not 0 <= place < len(checks)
                else None
            )
            outcome = Outcome(mutant.key, checks[place][0] if name is None else name, time.monotonic() - start)
            outcomes[mutant.key] = outcome
            tell(outcome)


def survivors(path: Path) -> set[str]:
    """The keys of a file ``{module: {function: {statement: [[faults…, reason], …]}}}``."""
    out = set()
    for module, functions in json.loads(path.read_text(encoding="utf-8")).items():
        for function, statements in functions.items():
            for statement, entries in statements.items():
                out |= {f"{module}: {function} | {statement} | {fault}" for *faults, _ in entries for fault in faults}
    return out


def main(arguments: list[str]) -> int:
    """Print the survivors and the share that was killed."""
    parser = argparse.ArgumentParser(description="mutation testing of a checker")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("folders", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="mutants whose key contains this text")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument(
        "--out", type=Path, help="add every outcome, a line of JSON; those that it holds are not tried again"
    )
    parser.add_argument("--known", type=Path, help="survivors that are explained: not tried, and counted as survivors")
    parser.add_argument("--source", type=Path, default=SOURCE)
    chosen = parser.parse_args(arguments)
    from trust import kill_suite  # here, or its parts would be imported by whoever only lists faults

    program = Program.read(chosen.target, chosen.source)
    every = program.mutants()
    known = survivors(chosen.known) if chosen.known else set()
    lines = chosen.out.read_text(encoding="utf-8").splitlines() if chosen.out and chosen.out.exists() else []
    done = [Outcome(*json.loads(line)) for line in lines]
    mine = {key for key in known if key.split(":")[0] in TARGETS[chosen.target]}
    stale = mine - {m.key for m in every}
    tried = {outcome.key for outcome in done}
    mutants = [m for m in every if chosen.only in m.key and m.key not in mine | tried][:: chosen.every]
    checks, start = kill_suite.checks(chosen.target, chosen.folders, kill_suite.KILLERS), time.monotonic()
    print(f"{len(mutants)} mutants, {len(checks)} checks", flush=True)  # noqa: T201

    def tell(outcome: Outcome) -> None:
        if not outcome.killed:
            print(f"survived {outcome.seconds:5.1f} s  {outcome.key}", flush=True)  # noqa: T201
        if chosen.out:
            with chosen.out.open("a", encoding="utf-8") as file:
                line = [outcome.key, outcome.killer, round(outcome.seconds, 2)]
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

    outcomes = [
        *(o for o in done if o.key not in mine),
        *run(program, mutants, checks, jobs=chosen.jobs, tell=tell, hints=done),
    ]
    killed = sum(outcome.killed for outcome in outcomes)
    total, took = len(outcomes) + len(mine), time.monotonic() - start
    print(f"{chosen.target}: {killed} of {total} killed ({killed / total:.1%}) in {took:.0f} s")  # noqa: T201
    for key in sorted(stale):
        print(f"no such fault any more: {key}")  # noqa: T201
    unexplained = len(outcomes) - killed if chosen.known else 0
    return int(bool(stale) or unexplained > 0 or killed < LEAST * total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
