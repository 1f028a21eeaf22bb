"""Tables and figures of the three experiments on made-up rows, whole and partial; selection of cells."""

import inspect
import json
import sys

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.experiments import fairness, figures, monotonicity, robustness
from smilenn.experiments.measures import classified, fall, mean, proved, r2, robust, spread, timed
from smilenn.experiments.page import page
from smilenn.experiments.study import Options, outcome, proved_up_to, select
from smilenn.experiments.tables import markdown, mean_and_spread, number
from smilenn.verdict import Proved, Unknown

STUDIES = [monotonicity.STUDY, robustness.STUDY, fairness.STUDY]


def monotone_rows(tasks=monotonicity.TASKS, models=(*monotonicity.RECIPES, *monotonicity.PEERS), seeds=(0, 1)):
    rng = np.random.default_rng(0)
    rows = [
        {
            "model": model,
            "alpha": alpha,
            "omega": omega,
            "seed": seed,
            "r2": 0.9 + 0.01 * seed,
            "limit": 0.95,
            "below": 0.05 - 0.01 * seed,
            "fall": 0.0,
            "status": "proved" if model in monotonicity.RECIPES else "none",
            "seconds": 1.0,
            "curve": rng.normal(size=401).tolist(),
        }
        for model in models
        for alpha, omega in tasks
        for seed in seeds
    ]
    line = np.linspace(-1, 1, 401)
    curve = {
        "title": "after training",
        "x": line.tolist(),
        "f": line.tolist(),
        "lower": line.tolist(),
        "upper": (line + 1).tolist(),
    }
    return [
        *rows,
        {
            "model": "evolution",
            "seed": 0,
            "change": 0.13,
            "allowed": 0.1355,
            "status": "proved",
            "verdict": "proved by sweep",
            "seconds": 1.0,
            "curves": [curve] * 3,
        },
    ]


def robust_rows(deltas=robustness.DELTAS, models=robustness.MODELS, data="mnist-zero"):
    return [
        {
            "model": model,
            "delta": delta,
            "eps": 1.0,
            "seed": seed,
            "data": data,
            "clean": 0.99,
            "pgd": 0.95,
            "verified": 0.9,
            "balanced_verified": 0.8,
            "status": "proved" if model in robustness.SMILE else "none",
            "device": "cpu",
            "seconds": 2.0,
            "predict_seconds": 0.01,
            "clean_all": 0.98,
            "verified_all": 0.91,
        }
        for model in models
        for delta in deltas
        for seed in (0, 1)
    ]


def fair_rows(sets=("compas", "law", "crime"), models=fairness.MODELS):
    rows = []
    for name in sets:
        epsilons, weights, _ = fairness.SETS[name]
        for model in models:
            swept = (
                [(e, None) for e in epsilons]
                if model in fairness.SMILE
                else ([(None, w) for w in weights] if model == "certifair" else [(None, None)])
            )
            for eps, weight in swept:
                row = {
                    "model": model,
                    "data": name,
                    "seed": 0,
                    "eps": eps,
                    "weight": weight,
                    "quality": 0.7,
                    "variation": 0.5 * (eps or 0.4),
                    "status": "none" if eps is None else "proved",
                    "seconds": 1.0,
                }
                if name != "crime":
                    row |= {"accuracy": 0.7, "balanced": 0.65, "auc": 0.72}
                elif model in fairness.SMILE:
                    row["panel"] = [[0.1, 0.2], [0.3, 0.4], [0.01, 0.02]]
                rows.append(row)
    return rows


ROWS = {"monotonicity": monotone_rows, "robustness": robust_rows, "fairness": fair_rows}
PARTIAL = {
    "monotonicity": lambda: monotone_rows(tasks=[(2, 0.6)], models=["default"], seeds=(3,))[:-1],
    "robustness": lambda: robust_rows(deltas=[0.05], models=["faithful"]),
    "fairness": lambda: fair_rows(sets=["crime"], models=["certifair"]),
}


def tables(text):
    """Every table of a Markdown text as a list of rows of cells."""
    found, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append([cell.strip() for cell in line.strip("|").split("|")])
        elif current:
            found.append(current)
            current = []
    return found


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("quick", [True, False])
def test_every_cell_is_one_call(study, quick):
    made = study.cells(Options(quick=quick, seeds=(0, 1)))
    assert len({json.dumps(cell, sort_keys=True) for cell in made}) == len(made)
    signature = inspect.signature(study.compute)
    for cell in made:
        signature.bind(**cell, options=Options())


def test_the_full_runs_are_the_paper_s_grids():
    assert len(select(robustness.cells(Options()), ["model=faithful", "seed=0"])) == 15
    assert len(select(robustness.cells(Options()), ["model=default"])) == 3
    assert len(select(monotonicity.cells(Options()), ["model=faithful", "seed=0"])) == 9
    chosen = select(fairness.cells(Options()), ["model=faithful", "seed=0", "data=crime"])
    assert [cell["eps"] for cell in chosen] == [0.02, 0.04, 0.06, 0.08, 0.10]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("make", [ROWS, PARTIAL], ids=["whole", "partial"])
def test_tables_are_rectangular(study, make):
    found = tables(study.report(make[study.name](), Options()))
    assert found
    for table in found:
        assert {len(row) for row in table} == {len(table[0])}


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("make", [ROWS, PARTIAL], ids=["whole", "partial"])
def test_figures_are_drawn_and_saved(study, make, tmp_path):
    for name, figure in study.figures(make[study.name]()).items():
        places = figures.save(figure, tmp_path / name)
        assert [place.suffix for place in places] == [".png", ".pdf"]
        assert places[0].read_bytes()[:4] == b"\x89PNG" and places[1].read_bytes()[:4] == b"%PDF"


def test_which_figures():
    names = {study.name: set(study.figures(ROWS[study.name]())) for study in STUDIES}
    assert names == {
        "monotonicity": {"heatmap", "estimator", "evolution"},
        "robustness": {"verified"},
        "fairness": {"scatter", "crime"},
    }
    assert all(study.figures([]) == {} for study in STUDIES)


def met(aims):
    """Aims by their first words."""
    return {aim.what.split(",")[0].split(" at δ")[0]: aim.met for aim in aims}


def test_aims_of_monotonicity():
    rows = [row | {"certified": True, "below": 0.001} for row in monotone_rows()[:-1]]
    good = monotonicity.aims(rows)
    assert len(good) == 4 and all(aim.met for aim in good)
    bad = monotonicity.aims([row | {"certified": False, "below": 0.003, "fall": 1e-9} for row in rows])
    assert len(bad) == 4 and not any(aim.met for aim in bad)
    assert "0 of 18" in bad[0].got and "0.0030 at most" in bad[2].got


def test_aims_of_robustness():
    share = {"default": 0.997, "faithful": 0.99, "crown-ibp": 0.993, "agnostic": 0.0, "constant": 0.9}
    rows = [
        row
        | {
            "verified": share[row["model"]],
            "clean": 0.999,
            "pgd": 0.998,
            "balanced_verified": 0.99,
            "certified": row["model"] in robustness.SMILE,
        }
        for row in robust_rows()
    ]
    found = met(robustness.aims(rows))
    assert found.pop("our CROWN-IBP: verified") is False, "99.3 at δ = .01 is more than .5 from 99.9"
    assert len(found) == 9 and all(found.values())
    near = [row | {"verified": 0.9935} if row["model"] == "default" else row for row in rows]
    worse = met(robustness.aims(near))
    assert not worse["default: verified"] and not worse["default"], "99.35 is below 99.5, and below 99.6 − .1 at .025"
    broken = [row | {"pgd": 0.5, "clean": 0.5} if row["model"] in robustness.SMILE else row for row in rows]
    assert sorted(key for key, value in met(robustness.aims(broken)).items() if not value) == [
        "default: clean",
        "faithful: clean",
        "our CROWN-IBP: verified",
        "what is verified",
    ]
    assert robustness.aims(robust_rows(data="digits-zero")) == [], "the aims are about MNIST"


def test_aims_of_fairness():
    rows = [
        row | {"seed": seed, "certified": row["eps"] is not None} for row in fair_rows(["compas"]) for seed in (0, 1)
    ]
    good = fairness.aims(rows)
    assert len(good) == 4 and all(aim.met for aim in good)
    lower = [row | {"quality": 0.69} if row["model"] == "default" else row for row in rows]
    assert [aim.met for aim in fairness.aims(lower)] == [True, True, False, False]
    wide = [row | {"variation": 0.01} if row["model"] == "certifair" else row for row in rows]
    assert fairness.aims(wide)[3].got == "no such point" and not fairness.aims(wide)[3].met


def test_the_page_names_aims_shortcomings_seeds_and_machines():
    study, rows = monotonicity.STUDY, monotone_rows()
    options: dict = {"figures": ["monotonicity-heatmap.png"], "machines": [({"cores": 2}, 5), (None, 1)]}
    missing = [{"data": "law", "model": "faithful", "seed": seed} for seed in (0, 1)]
    text = page(study, rows, Options(), missing=missing, **options)
    short = text.split("## What falls short")[1]
    assert (
        "- faithful: certified: 0 of 18, where all was wanted." in short
        and "- 2 cells have not been run (law faithful 2)" in short
    )
    assert "](monotonicity-heatmap.png)" in text and "| 5 | cores 2 |" in text and "| 1 | not recorded |" in text
    assert "seeds 0, 1." in text
    fine = [row | {"certified": True, "below": 0.0} for row in rows]
    assert "Every aim above is met, and every cell was run." in page(study, fine, Options(), **options)
    assert "## Aims" not in page(study, rows, Options(quick=True), **options)


def test_numbers_in_the_tables():
    first, second = tables(monotonicity.report(monotone_rows(), Options()))
    assert first[2][:3] == ["2, 0.4", "0.9500", "0.9050 ± 0.0071"] and len(first) == 2 + 9 + 1
    assert second[2] == ["faithful", "0.0450", "0.0450", "0", "18/18", "0/18", "1"]
    columns, accuracy, everywhere, times = tables(robustness.report(robust_rows(), Options()))
    assert columns[-1] == ["0.100", "90.57", "90.00 ± 0.00", "90.00 ± 0.00", "99.00", "90.00 ± 0.00"]
    assert ["0.100", "*SMiLE, paper*", "95.87", "92.17", "90.57", "", "", ""] in accuracy
    assert [
        "0.100",
        "SMiLE, default",
        *["99.00 ± 0.00", "95.00 ± 0.00", "90.00 ± 0.00", "80.00 ± 0.00"],
        "2/2",
        "0/2",
    ] in accuracy
    assert ["0.100", "CROWN-IBP", "98.00 ± 0.00", "91.00 ± 0.00", "–"] in everywhere
    assert ["CROWN-IBP", "2", "14138", "0.01", "11.2", "cpu"] in times
    text = fairness.report(fair_rows(), Options())
    compas, against, *_ = tables(text)
    assert ["faithful", "ε = 0.2", "0.7000", "0.6500", "0.7200", "0.1000", "1/1", "0/1", "1"] in compas
    assert against[2] == ["0.025", "0.7000", "0.2000", "0.7000", "+0.0000", "0.4"]


def test_no_default_point_is_fair_enough():
    rows = [row | {"variation": 0.001} if row["model"] == "certifair" else row for row in fair_rows(["compas"])]
    assert tables(fairness.report(rows, Options()))[1][2][3:] == ["none", "–", "–"]


def test_the_paper_s_numbers_stand_beside_mnist_only():
    assert "paper*" not in robustness.report(robust_rows(data="digits-zero"), Options(quick=True))


def test_selection():
    cells = [{"model": "a", "delta": 0.1}, {"model": "a", "delta": 0.2}, {"model": "b"}]
    assert select(cells, []) == cells
    assert select(cells, ["delta=0.1"]) == [cells[0], cells[2]], "a cell without the key belongs to all values"
    assert select(cells, ["delta=0.1", "delta=0.2", "model=a"]) == cells[:2]
    with pytest.raises(SmileError, match="KEY=VALUE"):
        select(cells, ["model"])
    with pytest.raises(SmileError, match="No cell has a key 'eps'; keys are 'model', 'delta'"):
        select(cells, ["eps=1"])
    with pytest.raises(SmileError, match="no cell with model = 'c'; model is one of 'a', 'b'"):
        select(cells, ["model=c"])
    with pytest.raises(SmileError, match="No cell meets"):
        select([{"model": "a", "delta": 1}, {"model": "b", "delta": 2}], ["model=a", "delta=2"])


def test_measures():
    truth = np.array([1.0, 0.0, 1.0, 1.0])
    logit = np.array([2.0, -2.0, 0.5, -0.5])
    found = robust(logit, truth, np.array([1.0, 1.0, -1.0, 1.0]), np.abs(logit) > 1)
    assert found == {"clean": 0.75, "pgd": 0.5, "verified": 0.5, "balanced_verified": pytest.approx(2 / 3)}
    assert classified(logit, truth) == {
        "accuracy": 0.75,
        "balanced": pytest.approx(5 / 6),
        "auc": 1.0,
        "log_loss": pytest.approx(np.mean(np.log1p(np.exp([-2.0, -2.0, -0.5, 0.5])))),
    }
    assert r2(truth, truth) == 1.0 and r2(truth, np.full(4, 0.75)) == 0.0
    assert fall(np.array([0.0, 1.0, 2.0])) == 0.0
    rows = [
        {"a": 1.0, "status": "proved", "certified": True},
        {"a": 3.0, "status": "unknown"},
        {"a": None, "status": "none"},
    ]
    assert mean(rows, "a") == 2.0 and spread(rows, "a") == pytest.approx(2**0.5) and proved(rows) == ["1/2", "1/2"]
    assert np.isnan(mean([], "a")) and number(mean([], "a")) == "–" and proved(rows[2:]) == ["–", "–"]
    assert mean_and_spread(rows[:1], "a", 1) == "1.0"
    result, seconds = timed(lambda: 7, repeats=2)
    assert result == 7 and seconds >= 0


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="a line of 1 cells in a table of 2 columns"):
        markdown(["a", "b"], [["1"]])


def test_only_a_proof_verifies():
    assert proved_up_to(Proved(tolerance=0.25), 1.0) == 1.25
    assert proved_up_to(Unknown(bound=-1.0), 1.0) == np.inf
    assert outcome(Unknown())["status"] == "unknown" and not outcome(Proved())["certified"]


def test_without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SmileError, match=r"pip install 'smilenn\[report\]', or ask for --no-figures"):
        figures.require()
    with pytest.raises(SmileError, match="matplotlib"):
        figures.evolution([{"title": "", "x": [0.0], "f": [0.0], "lower": [0.0], "upper": [0.0]}])
