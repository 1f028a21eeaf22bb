"""What ``smile audit`` was asked: its options, checked before anything slow is imported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smilenn.cli import paths
from smilenn.cli.fit_request import check_there, fair_parts, not_negative
from smilenn.cli.source import Source
from smilenn.errors import SmileError, listed

if TYPE_CHECKING:
    from smilenn.auditing.audit import Audit
    from smilenn.auditing.labels import LabelAudit
    from smilenn.domain import Domain


@dataclass(frozen=True)
class AuditRequest:
    """The options of one audit."""

    network: Path
    data: Path | None
    domain: Path | None
    fair: tuple[str, ...]
    increasing: tuple[str, ...]
    decreasing: tuple[str, ...]
    spec: tuple[Path, ...]
    against: Path | None
    equal: str | None
    vnnlib: Path | None
    to_vnnlib: Path | None
    labels: bool
    time_limit: float
    decide: bool
    out: Path | None
    seed: int

    @property
    def rules(self) -> tuple[Any, ...]:
        """Whatever rule was stated by an option of its own."""
        return (*self.fair, *self.increasing, *self.decreasing, *self.spec)

    def check(self) -> None:
        """Options that fit together, and files that are there."""
        if self.vnnlib is not None:
            self._check_query()
        else:
            self._check_stated()
        if not 0 <= self.time_limit < math.inf:
            raise SmileError(f"--time-limit {self.time_limit} is not a number of seconds; write one such as 60.")
        if self.out is not None:
            paths.check_new_folder(self.out)
        for file in (self.network, self.against):
            if file is not None and not file.is_file():
                raise SmileError(f"There is no file {str(file)!r}; give the path of an ONNX file.")
        for file in self.spec:
            paths.check_rules(file)

    def _check_query(self) -> None:
        assert self.vnnlib is not None
        others = (self.data, self.domain, self.against, self.equal, self.labels, self.to_vnnlib)
        if self.rules or any(others):
            raise SmileError("--vnnlib says everything: leave out --data, --domain, rules, --against and --labels.")
        if not self.vnnlib.is_file():
            raise SmileError(f"There is no file {str(self.vnnlib)!r}; give the path of a VNN-LIB file.")

    def _check_stated(self) -> None:
        if (self.data is None) == (self.domain is None):
            raise SmileError("Give either --data or --domain, so that the inputs and their bounds are known.")
        if (self.against is None) != (self.equal is None):
            raise SmileError("--against NETWORK and --equal EPS go together: how far two networks may lie apart.")
        if self.equal is not None:
            not_negative(self.equal, "--equal")
        if self.to_vnnlib is not None:
            paths.check_new_file(self.to_vnnlib, "--to-vnnlib", read=(self.network, self.data, self.domain))
            if self.labels or self.against is not None or self.out is not None:
                raise SmileError(
                    "--to-vnnlib writes rules and audits nothing; leave out --labels, --against and --out."
                )
        if self.against is not None and (self.rules or self.labels):
            raise SmileError("--against compares two networks at equal inputs; leave out other rules and --labels.")
        if self.against is None:
            self._check_rules()

    def _check_rules(self) -> None:
        """At least one rule is claimed, and each has its number."""
        if not self.rules:
            raise SmileError("Nothing is claimed; give --fair, --increasing, --decreasing or --spec.")
        both = [name for name in self.increasing if name in self.decreasing]
        if both:
            raise SmileError(f"{listed(both)} is both increasing and decreasing; keep one of the two.")
        for text in self.fair:
            if ":" in text:
                fair_parts(text)
        if self.labels and (len(self.rules) != 1 or not self.fair or ":" in self.fair[0] or self.decide):
            raise SmileError("--labels audits one column: give one --fair COLUMN without EPS, and no other rule.")

    def run(self) -> Audit | LabelAudit:
        """The audit."""
        limits: dict[str, Any] = {"time_limit": self.time_limit, "out": self.out, "seed": self.seed}
        if self.vnnlib is not None:
            from smilenn.auditing.audit import audit_vnnlib

            return audit_vnnlib(self.network, self.vnnlib, decide=self.decide, **limits)
        source = None if self.data is None else source_of(self.data, self.fair, self.increasing, self.decreasing)
        inputs, values = inputs_of(source, self.domain)
        if self.against is not None:
            from smilenn.auditing.two_networks import compare

            return compare(self.network, self.against, inputs, self.equal, decide=self.decide, **limits)
        if self.labels:
            from smilenn.auditing.labels import audit_labels

            return audit_labels(self.network, self.fair[0], inputs, values=values, **limits)
        from smilenn.auditing.audit import audit

        return audit(self.network, self._claims(), inputs, values=values, decide=self.decide, **limits)

    def write_query(self) -> None:
        """Write the rules as a VNN-LIB query."""
        assert self.to_vnnlib is not None
        from smilenn.auditing.vnnlib_out import query

        source = None if self.data is None else source_of(self.data, self.fair, self.increasing, self.decreasing)
        inputs, values = inputs_of(source, self.domain)
        text = query(self.network, self._claims(), inputs, values)
        self.to_vnnlib.write_text(text, encoding="utf-8")

    def _claims(self) -> list[Any]:
        from smilenn.auditing.lowering import Bracket
        from smilenn.properties.library import Fair, Monotone
        from smilenn.properties.spec import load_properties

        claims: list[Any] = []
        for text in self.fair:
            name, eps = fair_parts(text) if ":" in text else (text, None)
            claims.append(Bracket(Fair((text,), 0)) if eps is None else Fair((name,), eps))
        if self.increasing or self.decreasing:
            claims.append(Monotone(increasing=self.increasing, decreasing=self.decreasing))
        for path in self.spec:
            claims += load_properties(path)
        return claims


def source_of(
    data: Path, fair: tuple[str, ...], increasing: tuple[str, ...] = (), decreasing: tuple[str, ...] = ()
) -> Source:
    """The table, whose header has the columns that the options name."""
    paths.check_table(data)
    source = Source.find(data)
    protected = [fair_parts(text)[0] if ":" in text else text for text in fair]
    for option, names in (("--fair", protected), ("--increasing", increasing), ("--decreasing", decreasing)):
        check_there(option, tuple(names), source, source.header)
    return source


def inputs_of(source: Source | None, file: Path | None) -> tuple[Domain, dict[str, list[Any]]]:
    """The domain of a file, with the values it gives, or that of a table."""
    if file is not None:
        from smilenn.auditing.domain_file import read_domain

        return read_domain(file)
    assert source is not None
    from smilenn.cli.table import read_table
    from smilenn.domain import Domain

    return Domain.from_data(read_table(source), margin=0.0, scaling="none"), {}
