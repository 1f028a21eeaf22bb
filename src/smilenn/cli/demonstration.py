"""``smile demo``: the main job on embedded data, each step explained."""

from __future__ import annotations

import json as json_module
import shlex
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from smilenn.certify import check as checker
from smilenn.cli.guard import INTERRUPTED, exit_code
from smilenn.cli.option_words import in_options
from smilenn.cli.words import cell_list, domain_text, judgement_record, judgement_text
from smilenn.datasets.base import Dataset
from smilenn.datasets.credit import make_credit
from smilenn.datasets.split import split
from smilenn.domain import Domain
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.model.folder import refuse_existing, without_infinities
from smilenn.progress import display, duration
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.library import Fair, Monotone
from smilenn.properties.spec import lower_all
from smilenn.report.standing import Standing, measured, steps_of
from smilenn.report.write import write_report
from smilenn.rounding import shown_bound
from smilenn.verdict import Verdict

ROWS = 1500
REFERENCE_SECONDS = 60.0  # for the models of the report's comparison
EPS = 1.0  # points of the score that the protected attribute may move


def run(out: Path | None, *, quiet: bool, json: bool = False) -> int:
    """Train, certify, save, load and look; the exit code is that of `fit`. As `json`, one object at the end."""
    import torch

    quiet = quiet or json

    if out is not None:
        refuse_existing(out)
    torch.set_num_threads(1)  # small matrices: more threads only wait for each other
    say = (lambda text: None) if quiet else typer.echo
    tell = (lambda text: None) if json else typer.echo  # what even the quiet hear
    train, test = split(make_credit(ROWS, seed=0), seed=0)
    properties = [
        Monotone(increasing=train.increasing, decreasing=train.decreasing),
        Fair(train.protected, EPS),
    ]
    domain = Domain.from_data(train.frame)
    say(f"1. The data: {len(train)} invented credit applicants to learn from, {len(test)} to test on.")
    say(cell_list(train.frame.head(3).assign(score=train.target.head(3))))
    say_rules(properties, domain, say)
    say("\n3. Training: fitting networks that provably obey the rules.")
    model = SmileRegressor(properties=properties, domain=domain, random_state=0)
    with display("off" if quiet else "auto") as show:
        model.fit(train.frame, train.target, callback=show)
    say(f"   Trained in {duration(model.seconds_)}. {in_options(model.reasons_)}")
    known, seen = (part.target.to_numpy()[:, None] for part in (test, train))
    numbers = measured(model.task, model.outputs_.names, known, model.predict(test.frame)[:, None], seen)
    model.quality_ = Standing(len(test), True, steps_of(model.history_), numbers)
    say("\n4. The verdict:")
    tell(judgement_text(model))
    folder = Path(tempfile.mkdtemp(prefix="smile-demo-")) / "model" if out is None else out
    model.save(folder)
    if model.interrupted_:
        typer.echo(f"Interrupted: the best model so far is saved in {str(folder)!r}.")
        return INTERRUPTED
    loaded = load(folder)
    say_predictions(loaded, test, say)
    if loaded.certificate_ is None:
        tell(f"\nThe model is in {str(folder)!r}. It has no certificate: {in_options(loaded.certificate_note_)}")
    else:
        say_checked(folder, loaded.verdict_, say, tell)
    page = folder.with_name(f"{folder.name}-report.html")
    say("\n8. A report. For comparison it trains models with other rules and without rules.")
    try:
        with display("off" if quiet else "auto") as show:
            write_report(
                loaded,
                page,
                test.frame,
                test.target,
                name="Credit score",
                held_out=True,
                train=(train.frame, train.target),
                seconds=REFERENCE_SECONDS,
                folder=folder,
                callback=show,
            )
    except KeyboardInterrupt:
        typer.echo(f"Interrupted: no report was written; the model is saved in {str(folder)!r}.")
        return INTERRUPTED
    tell(f"   The report: {page}")
    if json:
        said = {"model": str(folder), "report": str(page), "quality": numbers, **judgement_record(loaded)}
        typer.echo(json_module.dumps(without_infinities(said), ensure_ascii=False))
    return exit_code(loaded.verdict_, loaded.quality_)


def say_rules(properties: Sequence[Property], domain: Domain, say: Callable[[str], Any]) -> None:
    """The domain, and what is to hold on all of it."""
    say("\n2. The rules, for every applicant within these ranges, not only those in the data:")
    say(f"   {domain_text(domain)}")
    for claim in lower_all(properties, domain, Outputs(target="score", role="number")):
        say(f"   - {claim.sentence}")


def say_predictions(model: SmileRegressor | SmileClassifier, test: Dataset, say: Callable[[str], Any]) -> None:
    """Some predictions of the saved model, and how they change with an input."""
    say("\n5. Some predictions, from the saved model:")
    few = test.frame.head(5)
    say(cell_list(few.assign(score=test.target.head(5), predicted=model.predict(few).round(1))))
    say("\n6. What if? One applicant, one change at a time:")
    say(cell_list(what_if(model, test.frame.iloc[[0]])))
    verdict = model.verdict_
    if verdict.exit_code == 0:
        room = f", up to {shown_bound(verdict.bound)} for rounding" if verdict.bound > 0 else ""
        rules = f"Nobody's score falls by earning more, nor moves by more than {EPS:g} through race{room}"
        say(f"   {rules}: that is certified.")
    say("   It says nothing about other columns that act as proxies for race, or about accuracy.")


def say_checked(folder: Path, verdict: Verdict, say: Callable[[str], Any], tell: Callable[[str], Any]) -> None:
    """What the checker said of the folder when it was loaded, and how others can ask it."""
    say("\n7. No trust needed: the folder holds a certificate, and a small program checks it in exact arithmetic.")
    tell(f"   The checker, on {str(folder)!r}: {verdict.sentence()}.")
    say("   It reads the model folder and nothing else. To run it yourself:")
    place, file = shlex.quote(str(folder)), shlex.quote(str(checker.__file__))
    say(f"     smile check {place}")
    say(f"     python -m smilenn.certify.check {place}")
    say("   or, without this package, copy the checker's one file, which needs nothing but Python:")
    say(f"     cp {file} check.py && python check.py {place}")


def what_if(model: SmileRegressor | SmileClassifier, person: pd.DataFrame) -> pd.DataFrame:
    """The person as is, with the other race, with more income and with more debt, each with its prediction."""
    changes = {
        "as it is": {},
        "other race": {"race": next(v for v in ("A", "B") if v != person["race"].iloc[0])},
        "income + 10": {"income": person["income"] + 10.0},
        "debt + 10": {"debt": person["debt"] + 10.0},
    }
    rows = pd.concat([person.assign(**change) for change in changes.values()], ignore_index=True)
    predicted = model.predict(rows)
    shown = rows[["income", "debt", "race"]].assign(
        predicted=predicted.round(2), change=np.round(predicted - predicted[0], 2) + 0.0
    )
    shown.insert(0, "what if", list(changes))
    return shown
