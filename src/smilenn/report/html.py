"""The page: one HTML file with its style, script and pictures in it; nothing is fetched.

Every text that came from a model or a table passes `svg.text`; document.py has the frame and its content policy.
"""

from __future__ import annotations

from importlib.resources import files

from smilenn._version import __version__
from smilenn.report import sections
from smilenn.report.document import document
from smilenn.report.elements import capital
from smilenn.report.findings import Findings
from smilenn.report.importance import importance_part
from smilenn.report.opening import opening
from smilenn.report.stability import stability
from smilenn.report.summary import summary
from smilenn.report.svg import text

TONE = {"Certified": "good", "Violated": "bad"}


def page(found: Findings) -> str:
    """The whole file."""
    style, script = (files("smilenn.report").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    parts = [
        ("summary", "Summary", summary(found)),
        ("quality", "Quality", sections.quality(found)),
        ("guarantee", "Accuracy and guarantee", sections.guarantee(found)),
        ("stability", "Robustness", stability(found)),
        ("pairs", "Tightest pairs", sections.pairs(found)),
        ("variation", "Variation", sections.variation(found)),
        ("slices", "Inputs", importance_part(found.importances, found.output_name) + sections.slices(found)),
        ("training", "Training", sections.training(found)),
    ]
    shown = "\n".join(
        f'<section id="{key}" data-title="{title}"><h2>{title}</h2>\n{content}\n</section>'
        for key, title, content in parts
        if content
    )
    tone = TONE.get(found.headline, "open")
    verdict = capital(found.sentence.removeprefix("certified, "))
    hint = "" if found.standing is None or not found.standing.hint else f" {text(found.standing.hint)}"
    body = f"""<header>
<h1>{text(found.name)}</h1>
<p class="lead">{text(opening(found))}</p>
<p><span class="badge {tone}">{text(found.headline)}</span> {text(verdict)}{text(found.but)}.{hint}</p>
</header>
<main>
<div class="tabs" role="tablist" aria-label="Parts of the report" hidden></div>
{shown}
</main>
<footer>Written by smilenn {text(__version__)}. Sampled figures show where a rule is tight; only the certificate
proves it.</footer>
<div id="tip" role="tooltip" hidden></div>"""
    return document(f"{text(found.name)}: {text(found.headline.lower())}", style, body, script)
