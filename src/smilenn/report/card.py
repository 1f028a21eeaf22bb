"""The model card: the report's facts as Markdown, for a repository or a registry."""

from __future__ import annotations

from collections.abc import Sequence

from smilenn._version import __version__
from smilenn.certify.about import HEADING
from smilenn.certify.verdicts import claim_words
from smilenn.domain import Feature
from smilenn.progress import duration
from smilenn.report.elements import capital, change_text, estimate_text
from smilenn.report.findings import Findings
from smilenn.report.opening import opening
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
    parts = [
        *_opening(found),
        *_rules(found),
        *_quality(found),
        *_tradeoff(found),
        "## What is not guaranteed",
        "\n".join(f"- {plain(item)}" for item in found.limits),
        "## The domain",
        _table(["input", "kind", "values"], [_feature(feature) for feature in found.model.domain_.features[:200]]),
    ]
    return "\n\n".join(parts) + "\n"


def _opening(found: Findings) -> list[str]:
    """What the model is, the verdict, and where it comes from."""
    model, standing = found.model, found.standing
    training = f"in {duration(model.seconds_)} of training" if model.n_iter_ else "without a step of training"
    hint = f" {plain(standing.hint)}" if standing is not None and standing.hint else ""
    return [
        f"# {plain(found.name)}",
        plain(opening(found)),
        f"**{found.headline}{plain(found.but)}.** {plain(capital(found.sentence.removeprefix('certified, ')))}.{hint}",
        f"A neural network made with smilenn {__version__} {training}.",
        *filter(None, [plain(found.drawn)]),
    ]


def _rules(found: Findings) -> list[str]:
    """Every rule with what is certified of it, the certificate, and what it assumes."""
    parts = ["## Rules, for every input of the domain"]
    for rule in found.rules:
        word = claim_words(rule.bound, rule.certified, found.unit)
        more = "".join(f"  \n  {plain(line)}" for line in rule.more)
        parts.append(f"- {plain(rule.sentence)} **{word}**{more}  \n  {plain(rule.formula)}")
    if not found.rules:
        parts.append("No rules were stated.")
    if found.certificate:
        parts.append(
            f"Certificate (SHA-256): `{found.certificate}`. To check it: `{found.command('smile check MODEL')}`."
        )
    if found.assumed:
        parts += [HEADING, "\n".join(f"- {plain(item.line)}" for item in found.assumed)]
    return parts


def _quality(found: Findings) -> list[str]:
    """Measures, and those of groups."""
    quality = found.quality
    if quality is None:
        return []
    what = {True: "held-out", False: "training", None: "given"}[found.held_out]
    lines = [[m.name, estimate_text(m.model), number(m.constant, 3)] for m in quality.metrics]
    groups = [[f"{plain(g.feature)}: {plain(g.value)}", str(g.rows), estimate_text(g.quality)] for g in quality.groups]
    return [
        f"## Quality on {quality.rows} {what} rows",
        _table(["measure", "model (95 % interval)", "best constant"], lines),
        *([_table(["group", "rows", quality.group_metric], groups)] if groups else []),
    ]


def _tradeoff(found: Findings) -> list[str]:
    """Accuracy against guarantee, where there is more to compare than the model and a constant."""
    tradeoff = found.tradeoff
    if tradeoff is None or len(tradeoff.points) <= 2:
        return []
    lines = [
        [
            plain(p.name),
            estimate_text(p.quality),
            "–" if p.eps is None else number(p.eps),
            "–" if p.variation is None else change_text(p.variation),
            p.status,
        ]
        for p in tradeoff.points
    ]
    header = ["model", tradeoff.metric, "ε asked for", "largest change found", "status"]
    return ["## Accuracy and guarantee", _table(header, lines), plain(" ".join(tradeoff.notes))]


def _feature(feature: Feature) -> list[str]:
    """Name, kind and values of an input."""
    values = ", ".join(map(repr, feature.values)) if feature.categories else feature.range_words
    unit = f" {feature.unit_words}" if feature.unit else ""
    return [plain(feature.name), feature.kind, plain(values + unit)]
