"""The model card: the report's facts as Markdown, for a repository or a registry."""

from __future__ import annotations

from collections.abc import Sequence

from smilenn._version import __version__
from smilenn.certify.about import HEADING
from smilenn.certify.verdicts import claim_words
from smilenn.progress import duration
from smilenn.report.elements import capital, change_text, estimate_text
from smilenn.report.findings import Findings
from smilenn.report.svg import number


def plain(value: object) -> str:
    r"""One line of Markdown that shows a text as it is: marks are escaped, characters that cannot be printed named.

    >>> plain("a|b <i>*c*")
    'a\\|b &lt;i&gt;\\*c\\*'
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
    shown = shown.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{c}" if c in "`*_{}[]()#|!~$" else c for c in shown)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def card(found: Findings) -> str:
    """The card: what it is, what it obeys, how well it predicts, what is not guaranteed."""
    model = found.model
    names = model.outputs_.names
    kind = {
        "binary": "a class of two", "multiclass": f"a class of {len(names)}", "multilabel": f"{len(names)} labels",
        "quantiles": f"{len(names)} quantiles of a number",
    }.get(model.task, "a number" if len(names) == 1 else f"{len(names)} numbers")  # fmt: skip
    target = f" ({plain(model.target_name_)})" if model.target_name_ else ""
    parts = [
        f"# {plain(found.name)}",
        f"**{found.headline}{plain(found.but)}.** {plain(capital(found.sentence.removeprefix('certified, ')))}."
        + ("" if found.standing is None else f" {plain(found.standing.sentence())}"),
        f"A neural network that predicts {kind}{target} from {len(model.domain_.features)} inputs, made with smilenn "
        f"{__version__} in {duration(model.seconds_)} of training.",
        "## Rules, for every input of the domain",
    ]
    for rule in found.rules:
        word = claim_words(rule.bound, rule.certified, found.unit)
        more = "".join(f"  \n  {plain(line)}" for line in rule.more)
        parts.append(f"- {plain(rule.sentence)} **{word}**{more}  \n  {plain(rule.formula)}")
    if not found.rules:
        parts.append("None was asked for.")
    if found.certificate:
        parts.append(f"Certificate (SHA-256): `{found.certificate}`. To check it: `smile check FOLDER`.")
    if found.assumed:
        parts += [HEADING, "\n".join(f"- {plain(item.line)}" for item in found.assumed)]
    if found.quality is not None:
        what = {True: "held-out", False: "training", None: "given"}[found.held_out]
        lines = [[m.name, estimate_text(m.model), number(m.constant, 3)] for m in found.quality.metrics]
        parts += [
            f"## Quality on {found.quality.rows} {what} rows",
            _table(["measure", "model (95 % interval)", "best constant"], lines),
        ]
        if found.quality.groups:
            lines = [
                [f"{plain(g.feature)}: {plain(g.value)}", str(g.rows), estimate_text(g.quality)]
                for g in found.quality.groups
            ]
            parts.append(_table(["group", "rows", found.quality.group_metric], lines))
    if found.tradeoff is not None and len(found.tradeoff.points) > 2:
        lines = [
            [plain(p.name), estimate_text(p.quality), "–" if p.eps is None else number(p.eps),
             "–" if p.variation is None else change_text(p.variation), p.status]
            for p in found.tradeoff.points
        ]  # fmt: skip
        parts += [
            "## Accuracy and guarantee",
            _table(["model", found.tradeoff.metric, "ε asked for", "largest change found", "status"], lines),
        ]
    parts += ["## What is not guaranteed", "\n".join(f"- {plain(item)}" for item in found.limits), "## The domain"]
    rows = []
    for feature in model.domain_.features[:200]:
        values = ", ".join(map(repr, feature.values)) if feature.categories else feature.range_words
        rows.append(
            [plain(feature.name), feature.kind, plain(values + (f" {feature.unit_words}" if feature.unit else ""))]
        )
    parts.append(_table(["input", "kind", "values"], rows))
    return "\n\n".join(parts) + "\n"
