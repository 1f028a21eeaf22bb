"""What people who type commands read: options, no names of Python; the same choices in help and errors."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Network, SmileClassifier
from smilenn.cli import app, options
from smilenn.cli.option_words import CLASSES, in_options
from smilenn.cli.words import cell_list, inputs_table
from smilenn.domain import Domain, Feature

pytestmark = pytest.mark.usefixtures("quick_module")

SOURCE = Path(smilenn.__file__).parent
# a call, a keyword, a parameter with an underscore, a class or module of the package
PYTHON = re.compile(r"\w\((?!s\))|\w=(?!=)|\b[a-z]+_[a-z_]+\b|\bSmile[A-Z]\w+|\bConfig\b|\bsmilenn\.|\bNone\b|\bTrue\b")
# nothing that a command does leads there: the rooms for people who write Python, and whose files are read elsewhere
ELSEWHERE = (
    "experiments",
    "baselines",
    "mlflow",
    "datasets",
    "certify/check",
    "testing",
    "calibration",
    "estimators/clamped",
    "estimators/certified_trees",
    "deep/",
    "model/clamp",
    "model/threads",
    "train/losses",
    "model/encoders",
    "model/trees",
    "properties/registry",
)
ONLY_PYTHON = {
    "parameters without an option": "out_of_bounds is|validation_fraction|backbone_s|encoder=|Config|output_scale|"
    "monotonic_cst|network is a|domain is a|fit_deep",
    "arrays and sparse data": "n_samples|set_output|toarray|0 feature|requires y|sample_weight|reshape",
    "encoders": "encoder was made",
    "estimators as backbones": "has no predict_proba; a classifier needs|^leave the backbone out, or certify",
    "radii, which the command writes in the unit that there is": "unit='delta'|unit is|of another norm; give norm",
    "an option whose own form has a sign of equality": "^--order ",
    "networks that a program builds or trains by itself": "boxes='paper' has|project_|smilenn.prove|SmileNet",
    "your own networks and properties": "certify_net|register_property|that registers",
    "points of a data frame": "LocalRobust",
    "values of a verdict": "more than two values|in place of reason=",
    "names beside the positional ones": "Exclusive: give the labels",
}


def messages():
    """Every sentence of an error or a warning, and every reason, its values left out: (file, line, text)."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(ELSEWHERE):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Error", "warn", "Unknown", "unjudged")):
                yield place, node.lineno, " ".join(spoken(part) for part in node.args)
            elif isinstance(node, ast.Assign) and re.fullmatch(r"[A-Z_]+", ast.unparse(node.targets[0])):
                yield place, node.lineno, spoken(node.value) if " " in spoken(node.value) else ""


def spoken(node) -> str:
    """The words of a text that is put together."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "…" for v in node.values)
    return spoken(node.left) + spoken(node.right) if isinstance(node, ast.BinOp) else ""


def test_no_message_names_python_on_the_command_line():
    """Every sentence that a command may print, through the one place that puts options into it."""
    found = [
        f"{place}:{line}: {in_options(text)}"
        for place, line, text in messages()
        if PYTHON.search(in_options(text)) and not any(re.search(way, text) for way in ONLY_PYTHON.values())
    ]
    assert not found, "\n".join(found)


def test_reasons_name_no_parameters():
    from smilenn.train.recipes import ensemble, words

    assert "network=Network(encoder='none')" in ensemble.NOTHING and "encoder" not in in_options(ensemble.NOTHING)[10:]
    assert in_options(ensemble.NOTHING).endswith("leaves the backbone.")
    path = Path(words.__file__).read_text(encoding="utf-8")
    (stated,) = re.findall(r"exactly (\(network=Network\(encoder='none'\).*?\))\.", path)
    assert in_options(f"They are linear {stated}.") == "They are linear."


def test_columns_keep_their_names():
    for text in ("Row 5, column 'time_limit' holds 1.5", "'a' names 'bounds names x', which", "the classes are 'None'"):
        assert in_options(text) == text


def smile(*arguments):
    """Exit code and everything that was printed."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "data.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 60).round(3), "g": rng.choice(list("uvw"), 60)})
    frame.assign(y=(3 * frame["x"]).round(2), c=frame["g"], k=np.arange(60) % 2).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "y", "--increasing", "x", "--time-limit", "0"], "--time-limit must be more than 0 seconds"),
        (["--target", "y", "--increasing", "x", "--epochs", "-1"], "--epochs must be at least 0"),
        (["--target", "y", "--increasing", "x", "--bounds", "z:0:1"], "has no column 'z'; it has"),
        (["--target", "y", "--quantile", "0.9", "--quantile", "0.1"], "--quantile is [0.9, 0.1]"),
        (["--target", "y", "--increasing", "x", "--task", "classification"], "or use --task regression."),
        (
            ["--target", "y", "--robust", "5"],
            "--robust 5 lacks its ε, in a regression the largest change of the output",
        ),
        (["--target", "y", "--robust", "0.1"], "as in --robust 0.1:2."),
        (["--target", "y", "--increasing", "g"], "smile: --increasing: 'g' is a category and its values have no order"),
        (["--target", "y", "--increasing", "x", "--output", "z"], "smile: --output names 'z', but there is one only;"),
        (
            ["--target", "c", "--drop", "g", "--increasing", "x", "--output", "z"],
            "smile: --output names 'z'; there are",
        ),
        (["--target", "y", "--increasing", "x", "--bounds", "x:5:1"], "--bounds x:5:1: the lowest value, 5, is above"),
        (["--target", "k", "--increasing", "x", "--positive", "2"], "--positive is '2', which is not a class"),
        (["--target", "c", "--drop", "g", "--increasing", "x"], "; add --output 'w' (in a file of rules: output"),
        (["--target", "c", "--drop", "g", "--increasing", "x", "--positive", "u"], "--positive chooses one of two"),
    ],
)
def test_options_instead_of_parameters(data, tmp_path, options, said):
    code, out = smile("fit", data, "--out", tmp_path / "m", "--quiet", *options)
    assert code == 2 and said in out, out
    assert not re.search(rf"time_limit|epochs_|SmileRegressor|\b({CLASSES})\b|Config|output=|\bquantiles", out)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('kind = "robust"\ndelta = -1', "property 1: delta is -1; it must be more than 0."),
        ('kind = "robust"\ndelta = 1', "property 1 (robust): a regression needs eps, the largest change of the output"),
        ('kind = "monotone"\nincreasing = ["g"]', "property 1 (monotone): 'g' is a category"),
        ('kind = "bounded"\nlo = 0\noutput = "z"', "property 1 (bounded): the rule names the output 'z'"),
    ],
)
def test_a_file_of_rules_is_answered_without_the_names_of_classes(data, tmp_path, rule, said):
    spec = tmp_path / "rules.toml"
    spec.write_text(f"[[property]]\n{rule}\n", encoding="utf-8")
    code, out = smile("fit", data, "--target", "y", "--spec", spec, "--out", tmp_path / "m", "--quiet")
    assert code == 2 and said in out, out
    assert not re.search(rf"\b({CLASSES})\b", out)


def test_every_class_of_the_library_loses_its_name():
    from smilenn.properties.registry import OWN

    assert CLASSES.split("|") == [cls.__name__ for cls in OWN]


def test_no_certificate_is_said_in_options(data, tmp_path):
    quick = ("--epochs", "3", "--certify-limit", "0", "--quiet")
    code, out = smile("fit", data, "--target", "y", "--increasing", "x", "--out", tmp_path / "m", *quick)
    assert code == 3 and "(--certify-limit is 0)" in out and "certify_limit" not in out
    code, out = smile("predict", tmp_path / "m", data, "--out", tmp_path / "p.csv")
    assert code == 0
    assert "certify()" not in out


def test_a_backbone_of_ones_own_cannot_be_loaded_by_a_command(tmp_path):
    import torch

    def backbone(inputs, embedding):
        return torch.nn.Sequential(torch.nn.Linear(inputs, embedding), torch.nn.Tanh())

    frame = pd.DataFrame({"x": np.arange(20.0)})
    quick = smilenn.Config(pretrain_epochs=2, epochs=1, posttrain_rounds=0, least_quality=0.0)
    model = SmileClassifier(
        increasing=["x"], network=Network(backbone=backbone), config=quick, certify_limit=0, random_state=0
    )
    model.fit(frame, np.arange(20) > 9).save(tmp_path / "m")
    code, out = smile("prove", tmp_path / "m")
    assert code == 2 and "only Python code that builds it can load this model" in out and "backbone=" not in out


# ---- choices --------------------------------------------------------------------------------------------------------


def test_choices_are_those_of_the_package():
    from smilenn.experiments.proof_cases import JOBS
    from smilenn.experiments.reproduce import STUDIES
    from smilenn.provers.rules.table import PROVERS

    assert options.PROVERS == PROVERS
    assert options.JOBS == JOBS
    assert (*STUDIES, "all") == options.EXPERIMENTS


@pytest.mark.parametrize(
    ("command", "arguments", "names"),
    [
        ("prove", ["nowhere", "--prover", "magic"], options.PROVERS),
        ("bench", ["magic"], options.SUBJECTS),
        ("bench", ["proof", "--job", "magic"], options.JOBS),
        ("reproduce", ["magic", "--out", "nowhere"], options.EXPERIMENTS),
    ],
)
def test_help_and_errors_list_the_same_choices(command, arguments, names):
    listed = options.choices(names)
    assert listed in smile(command, "--help")[1]
    code, out = smile(command, *arguments)
    assert code == 2 and out.strip().endswith(f"'magic'; there are: {listed}.")


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("--task", options.TaskChoice),
        ("--missing", options.Missing),
        ("--boxes", options.Boxes),
        ("--encoder", options.Encoder),
    ],
)
def test_choices_of_fit(data, tmp_path, option, kind):
    assert options.choices(tuple(kind)) in re.search(rf"{option}.*", smile("fit", "--help-all")[1])[0]
    code, out = smile("fit", data, "--target", "y", "--out", tmp_path / "m", option, "magic")
    assert code == 2 and ", ".join(f"'{name}'" for name in kind) in out


COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_no_types_of_python(command):
    shown = smile(command, "--help-all" if command == "fit" else "--help")[1].replace("such as None", "")
    assert not re.search(r"list\[|Optional|Path\b|None\b|<bool>|--.*<(int|float|str)", shown)


def test_no_name_or_cell_forges_a_line():
    forged = "a\nCertified: this holds for every input in the domain."
    domain = Domain((Feature(forged, lo=0, hi=9), Feature("g", "category", categories=("u", f"v{forged}"))))
    x = np.array([[1.0, 1, 0], [2.0, 0, 1]])
    table = inputs_table(x, domain, {"the output": np.array([1.0, 2])})
    assert len(table.splitlines()) == 4 and "\nCertified" not in table
    assert r"a\nCertified: this holds" in table and r"va\nCertified" in table
    assert len(cell_list(domain.decode(x)).splitlines()) == 3
