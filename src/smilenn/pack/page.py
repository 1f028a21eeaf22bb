"""The page of a pack, one HTML file that fetches nothing and prints well.

It is made from the pack's files alone. Every number and every text of the model stands in an element that names its
file and its place there (entry.py); what has no such element has no digits in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from smilenn.pack.entry import NOTHING, Entry
from smilenn.report.document import document
from smilenn.report.elements import bullets, table
from smilenn.report.svg import text

Files = dict[str, Entry]
TONE = {"Certified": "good", "Violated": "bad"}


def page(found: Files) -> str:
    """The whole file."""
    style = files("smilenn.pack").joinpath("page.css").read_text("utf-8")
    parts = [
        ("Statement", _statement(found), ["pack.json", "statement.txt"]),
        ("Checkers", _checkers(found), ["checkers.json", *_outputs(found)]),
        ("Data", _profile(found), ["profile.json", "pack.json"]),
        ("Quality", _quality(found), ["quality.json"]),
        ("Sensitivity", _sensitivity(found), ["sensitivity.json"]),
        ("Trade-off", _tradeoff(found), ["tradeoff.json"]),
        ("Limits", _limits(found), ["limits.json"]),
        ("Monitoring plan", _monitoring(found), ["monitoring.json"]),
        ("What supports which demand", _clauses(found), ["clauses.json"]),
        ("How it was made", _made(found), ["design.txt", "versions.json", "manifest.json"]),
    ]
    sections = "\n".join(
        f"<section><h2>{title}</h2>\n{content}\n{_sources(names)}</section>" for title, content, names in parts
    )
    own = found["pack.json"]
    tone = TONE.get(own["headline"].value, "open")
    body = f"""<header>
<p class="kind">Validation pack</p>
<h1>{own["name"].html()}</h1>
<p><span class="badge {tone}">{own["headline"].html()}</span> {own["sentence"].html()}</p>
<p class="soft">Written by {own["by"].html()} on {own["written"].html()}. Every number names its file: point at it, or
read the line below each part.</p>
</header>
<main>
{sections}
</main>"""
    return document(f"{text(own['name'].value)}: validation pack", style, body)


def _sources(names: Iterable[str]) -> str:
    links = ", ".join(f'<a href="{text(name)}">{text(name)}</a>' for name in names)
    return f'<p class="source">Numbers from {links}.</p>'


def _named(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with their values, as a list of definitions."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs) + "</dl>"


def _estimate(entry: Entry) -> str:
    """A value with its interval."""
    if entry.value is None:
        return NOTHING
    if entry["low"].value is None:
        return entry["value"].html(3)
    return f"{entry['value'].html(3)} ({entry['low'].html(3)} to {entry['high'].html(3)})"


def _statement(found: Files) -> str:
    own = found["pack.json"]
    rules = []
    for rule in own["rules"]:
        tone, word = ("good", "certified") if rule["certified"].value else ("open", "not certified")
        more = "".join(f'<p class="soft">{line.html()}</p>' for line in rule["more"])
        rules.append(
            f'<div class="rule"><p><b>{rule["rule"].html()}</b></p>{more}<p><span class="badge {tone}">{word}</span> '
            f'Checked bound on a violation: {rule["bound"].html()}</p><p class="formula">{rule["formula"].html()}</p>'
            "</div>"
        )
    facts = [
        ("Hash of the certificate", f"<code>{own['certificate'].html()}</code>"),
        ("Digest of the model folder", f"<code>{own['model']['digest'].html()}</code>"),
        ("Predicts", ", ".join(name.html() for name in own["outputs"])),
    ]
    words = f"<details><summary>The statement in full</summary>{_whole(found['statement.txt'])}</details>"
    return "".join(rules) + _named(facts) + words


def _whole(entry: Entry) -> str:
    """A text file as it is."""
    return f'<pre data-file="{text(entry.file)}" data-at="">{text_lines(entry.value)}</pre>'


def text_lines(value: str) -> str:
    """Lines escaped for HTML, one by one."""
    return "\n".join(text(line) for line in value.splitlines())


def _outputs(found: Files) -> list[str]:
    return [one["output"].value for one in found["checkers.json"] if one["output"].value is not None]


def _checkers(found: Files) -> str:
    keys = ("name", "what", "status", "seconds", "version", "python")
    rows = [[one[key].html(3) for key in keys] for one in found["checkers.json"]]
    hashes = _named(
        (f"Hash of the {one['name'].html()} checker", f"<code>{one['sha256'].html()}</code>")
        for one in found["checkers.json"]
    )
    shown = "".join(
        f"<details><summary>What {text(name)} holds</summary>{_whole(found[name])}</details>"
        for name in _outputs(found)
    )
    return table(("checker", "method", "finding", "seconds", "version", "Python"), rows) + hashes + shown


def _profile(found: Files) -> str:
    data, own = found["profile.json"], found["pack.json"]["data"]
    facts = [
        ("File", own["file"].html()),
        ("Hash of the file", f"<code>{own['sha256'].html()}</code>"),
        ("Rows", own["rows"].html(9)),
        ("Rows measured", own["measured"].html(9)),
        ("These rows were", own["held_out"].html()),
        ("Share of rows outside the domain", data["outside"].html()),
    ]
    numbers = [column for column in data["columns"] if "found" in column.value]
    lists = [column for column in data["columns"] if "values" in column.value]
    keys = ("min", "p5", "median", "p95", "max", "mean", "sd")
    rows = [
        [
            column["name"].html(),
            f"{column['domain']['low'].html()} to {column['domain']['high'].html()}",
            *(column["found"][key].html() for key in keys),
            column["outside"].html(),
            column["missing"].html(),
        ]
        for column in numbers
    ]
    head = ("column", "domain", "least", "low", "median", "high", "most", "mean", "spread", "outside", "missing")
    counted = [
        [column["name"].html(), value["value"].html(), value["rows"].html(9), value["share"].html()]
        for column in lists
        for value in column["values"]
    ]
    return "".join(
        (
            _named(facts),
            table(head, rows) if rows else "",
            table(("column", "value", "rows", "share"), counted) if counted else "",
            "<p class='soft'>Low and high are the outer quantiles of the file; spread is the standard deviation.</p>",
            _target(data["target"]),
        )
    )


def _target(targets: Entry) -> str:
    lines = []
    for target in targets:
        if "found" in target.value:
            lines.append(", ".join(f"{key} {target['found'][key].html()}" for key in ("min", "median", "max", "mean")))
        else:
            lines.append(", ".join(f"{v['value'].html()}: {v['share'].html()}" for v in target["values"]))
    return f"<h3>Target</h3>{bullets(lines)}"


def _quality(found: Files) -> str:
    data = found["quality.json"]
    rows = [[m["name"].html(), _estimate(m["model"]), m["constant"].html(3)] for m in data["metrics"]]
    groups = [
        [g["feature"].html(), g["value"].html(), g["rows"].html(9), _estimate(g["quality"])] for g in data["groups"]
    ]
    by = data["group_metric"].html()
    return "".join(
        (
            f"<p>On {data['rows'].html(9)} rows; in brackets intervals at the level {data['level'].html()}.</p>",
            table(("measure", "model", "best constant"), rows),
            table(("column", "group", "rows", by), groups) if groups else "",
            _decisions(data["decisions"]) if data["decisions"].value else "",
        )
    )


def _decisions(data: Entry) -> str:
    head = ("column", "group", "rows", "predicted positive", "false positive rate", "false negative rate")
    rows = [
        [
            g["feature"].html(),
            g["value"].html(),
            g["rows"].html(9),
            *(_estimate(g[key]) for key in ("predicted", "false_positive", "false_negative")),
        ]
        for g in data["groups"]
    ]
    ranks = _named([("AUC", _estimate(data["AUC"])), ("KS", _estimate(data["KS"]))])
    return f"<h3>Decisions; the positive class is {data['positive'].html()}</h3>{ranks}{table(head, rows)}"


def _sensitivity(found: Files) -> str:
    data = found["sensitivity.json"]
    rules = [
        [r["rule"].html(), r["certified"].html(), r["bound"].html(), r["found"].html(), r["rows"].html(9)]
        for r in data["rules"]
    ]
    proved = [f"{d['feature'].html()}: {d['proved'].html()}" for d in data["directions"] if d["proved"].value]
    tables = "".join(_changes(data, k) for k in range(len(data["outputs"])))
    left = data["left_out"]
    return "".join(
        (
            table(("rule", "certified", "checked bound", "largest found", "rows tried"), rules) if rules else "",
            "<p class='soft'>Found is the largest left side minus right side that a search saw around rows; where it "
            "is not above zero, the rule holds there. The checked bound covers every input.</p>"
            if rules
            else "",
            f"<h3>Proved directions</h3>{bullets(proved)}" if proved else "",
            tables,
            f"<p>{left.html()} more features are not shown.</p>" if left.value else "",
        )
    )


def _changes(data: Entry, k: int) -> str:
    """The table of one output."""
    keys = ("mean", "p5", "p95", "largest")
    rows = [
        [line["feature"].html(), line["change"].html(), *(line["outputs"][k][key].html(3) for key in keys)]
        for line in data["changes"]
    ]
    head = ("feature", "moved", "mean", "low", "high", "largest in size")
    return (
        f"<h3>Change of {data['outputs'][k].html()} when one feature moves</h3>"
        f"<p>Measured on {data['rows'].html(9)} rows; low and high are outer quantiles.</p>{table(head, rows)}"
    )


def _tradeoff(found: Files) -> str:
    data = found["tradeoff.json"]
    rows = [
        [p["name"].html(), _estimate(p["quality"]), p["eps"].html(), p["variation"].html(3), p["status"].html()]
        for p in data["points"]
    ]
    rule = f"<p>{data['rule'].html()}</p>" if data["rule"].value else ""
    return rule + table(("model", data["metric"].html(), "ε asked for", "largest change found", "status"), rows)


def _limits(found: Files) -> str:
    data = found["limits.json"]
    assumed = [line.html() for line in data["assumed"]]
    return bullets(line.html() for line in data["limits"]) + (
        f"<h3>Assumed, not checked</h3>{bullets(assumed)}" if assumed else ""
    )


def _monitoring(found: Files) -> str:
    data = found["monitoring.json"]
    outside = [[o["column"].html(), o["share"].html(), o["alarm"].html()] for o in data["outside"]]
    drift = [[d["column"].html(), d["of"].html(), _bins(d), d["alarm"].html()] for d in data["drift"]]
    quality = [
        [q["measure"].html(), q["measured"].html(3), q["worse"].html(), q["alarm"].html(3)] for q in data["quality"]
    ]
    folder = data["folder"]
    return "".join(
        (
            f"<p>For windows of {data['window'].html(9)} rows, with a false alarm in a share of "
            f"{data['false_alarms'].html()} of them; the thresholds come from {data['rows'].html(9)} rows.</p>",
            "<h3>The folder</h3>",
            f"<p>Run <code>{folder['command'].html()}</code> {folder['when'].html()}; the digest must stay "
            f"<code>{folder['digest'].html()}</code>.</p>",
            "<h3>Rows outside the domain</h3>",
            table(("column", "share now", "alarm above"), outside),
            f"<p>{data['then'].html()}</p>",
            "<h3>Drift of inputs and predictions</h3>",
            table(("column", "kind", "shares of its bins", "alarm above this PSI"), drift),
            "<p>The file has the ends of the bins. After an alarm, look at the column, then measure quality again.</p>",
            "<h3>Quality, once outcomes are known</h3>",
            table(("measure", "measured", "worse is", "alarm beyond"), quality),
        )
    )


def _bins(drift: Entry) -> str:
    """The shares of the bins one after the other."""
    return ", ".join(share.html(2) for share in drift["shares"])


def _clauses(found: Files) -> str:
    data = found["clauses.json"]
    rows = [
        [
            f"{c['source'].html()}<br>{c['clause'].html()}",
            c["asks"].html(),
            _supports(c["supports"]),
            c["not_here"].html(),
        ]
        for c in data["clauses"]
    ]
    return f"<p>{data['note'].html()}</p>" + table(("demand", "asks for", "supported by", "not in this pack"), rows)


def _supports(names: Entry) -> str:
    return ", ".join(name.html() for name in names) or NOTHING


def _made(found: Files) -> str:
    versions = [(name, entry.html()) for name, entry in found["versions.json"].items()]
    shown: Sequence[tuple[str, str]] = [(text(name), value) for name, value in versions]
    repeat = (
        "<p>To repeat the checks, run <code>smile check</code> on this folder: it compares every hash, then checks the "
        "certificate in <code>model</code>. With <code>--key</code> it also verifies who signed the pack.</p>"
    )
    return f"{_whole(found['design.txt'])}{repeat}<details><summary>Versions</summary>{_named(shown)}</details>"
