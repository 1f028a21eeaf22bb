"""Messages of the package in the command line's words: options instead of parameters, commands instead of methods.

The package speaks to people who write Python. What can reach somebody who types commands is put into options here, in
one table of phrases; names of columns, which stand in quotes, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# what Python calls the properties; a message of theirs begins with such a name, often behind the option that stated it
CLASSES = (
    "Monotone|Robust|Fair|Lipschitz|Convex|Concave|Symmetric|Dominates|Bounded|Ordered|Exclusive|SumAtMost|OneOf|"
    "LocalRobust|Safe|Custom"
)
PHRASES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # the domain
    (
        r"; widen the bounds or choose out_of_bounds='clamp'",
        "; widen the domain (--bounds of smile fit), or let smile "
        "predict move such rows to its edge: --out-of-bounds clamp",
    ),
    (r"(?<![-\w'])bounds (names|gives) ", r"--bounds \1 "),
    (r"Row (\d+), column ('.*?') is missing \(NaN\)", r"Row \1, column \2 is missing"),
    # the target
    (r"^Unknown label type: (continuous\. )?(\w)", lambda found: found[2].upper()),
    (r"or use SmileRegressor", "or use --task regression"),
    (r"Numbers are for SmileRegressor", "Numbers are for --task regression"),
    (r"^positive (is|chooses) ", r"--positive \1 "),
    (r"Monotone\(…, output=…\)", "--output"),
    (r"^quantiles is (.*?)\[0\.1, 0\.5, 0\.9\]\.$", r"--quantile is \1--quantile 0.1 --quantile 0.9."),
    (r"^class_weight is for rows of one class each; .*", "--class-weight is for rows of one class each; leave it out."),
    (r"^class_weight is 'balanced' or a dictionary class → weight", "--class-weight is balanced or CLASS:WEIGHT"),
    (r"^class_weight ", "--class-weight "),
    # networks, which options do not choose
    (r" \(network=Network\(encoder='none'\) searches for [^)]*\)", ""),
    (r",? or with network=Network\(encoder='none'\)", ""),
    (r"(network=)?Network\(encoder='(image|auto)'\)", r"--encoder \2"),
    (r"encoder='(image|auto)'", r"--encoder \1"),
    (r"missing='fill' does", "--missing fill does"),
    # training
    (r"^time_limit ", "--time-limit "),
    (r"certify_limit", "--certify-limit"),
    (r"^random_state ", "--seed "),
    (r"^restarts ", "--restarts "),
    (r"^Config\.(pretrain_)?epochs ", "--epochs "),
    (r"was fitted with boxes='(\w+)', not '(\w+)'", r"was fitted with --boxes \1, not \2"),
    (r"was fitted with (\w+)=(.*?), not (.*?); fit anew", r"was fitted with other constants of the network; fit anew"),
    (r"without a start\.", "without --from."),
    (r"; leave (bounds|kinds|groups|order) out\.", r"; leave --bounds, --category and --order out."),
    (r"say (it|their order), as in domain=Columns\(order=\{.*?: .*\}\), lowest first", r"say \1 with --order"),
    (r" To keep it, declare its kind\.", " To keep it, name it in a rule, --bounds, --category or --order."),
    (r"if it names its rows, drop it from X\.$", "if it names its rows, leave it out with --id or --drop."),
    (r"is missing, write X\['.*'\]\.replace\(('.*?'), None\)\.$", r"is missing, use --na \1."),
    (r"unknown='refuse'", "--unknown refuse"),
    (
        r"^Integer feature ('.*?') needs whole bounds, not ",
        r"--bounds: \1 holds whole numbers and needs whole bounds, not ",
    ),
    # properties, in options and in files of rules
    (r"^--(in|de)creasing: Monotone names the output ", "--output names "),
    (r"^--robust (\S+): Robust needs eps in a regression: ", r"--robust \1 lacks its ε, in a regression "),
    (
        r"Robust needs eps in a regression: (.*), as in Robust\(0\.1, eps=2\)",
        r"a regression needs eps, \1, as in eps = 2",
    ),
    (r"as in Robust\(0\.1, eps=([\d.]+)\)", r"as in --robust 0.1:\1"),
    (r", as in domain=Columns\(kinds=\{.*?: 'continuous'\}\)", ", with decimals in the table, as in 3.0"),
    (r", as in domain=Columns\(kinds=\{(.*?): 'category'\}\)", r" with --category \1"),
    (r"(leave|without) norm=2", r"\1 --norm 2"),
    (r"as in Monotone\(increasing=\['income'\]\)", "as in --increasing income"),
    (r"; add output=('.*?'|…), or another of", r"; add --output \1 (in a file of rules: output = \1), or another of"),
    (rf"(^|: )({CLASSES}): (?=\S)", r"\1"),
    (rf"^({CLASSES}) (?=[a-z]+ )", "The rule "),
    (rf": ({CLASSES}) (?=[a-z]+ )", ": the rule "),
    (r"as in Bounded\(0, 100\) or Bounded\(lo=0\)", "as in lo = 0 or hi = 100"),
    (r"as in Ordered\(\['low', 'high'\]\)", 'as in outputs = ["low", "high"]'),
    (r"as in Exclusive\('cat', 'dog'\)", 'as in outputs = ["cat", "dog"]'),
    (r"as in SumAtMost\(\['rent', 'food'\], 'income'\)", 'as in outputs = ["rent", "food"], limit = "income"'),
    (r"; give one such as Monotone\(.*?\) or a Claim", '; give a [[property]] table with a kind, such as "monotone"'),
    (r"give a list of output names, or None for all", "give a list of output names, or leave it out for all"),
    # proving
    (r"Choose prover='auto'", "Choose --prover auto"),
    (r"; call certify\(\)( and save it then| again| to judge .*)?", "; `smile prove --again` judges it as it is now"),
    # reasons
    (r"Say what to reach: at_least=… or at_most=…", "Say what to reach: --at-least or --at-most"),
    (r"(?<![-\w'])at_(least|most) is ", r"--at-\1 is "),
    (r"Say what is wanted, to=…:", "Say what is wanted, --to:"),
    (r"add output=…, one of", "add --output, one of"),
    (r"change\[('.*?')\] is ", r"--change \1 is "),
    (r"fitted, as in Monotone\((\w+|…)=\[(.*?)\]\)", r"fitted: --\1 \2"),
    # models that only Python can load
    (r"; build it and pass backbone=… when loading", "; only Python code that builds it can load this model"),
    (r"; build them and pass modules=\{.*\} when loading", "; only Python code that builds them can load this model"),
    (
        r"; load it in Python with smilenn\.load\(folder, backbone=.{1,3}\), which takes that estimator",
        "; only Python code with that estimator can load it",
    ),
    (r"; allow more seconds \(time_limit\) or certify", "; allow more seconds (--time-limit) or certify"),
    (r"; pass the backbone it was saved with", "; only Python code with the backbone it was saved with can load it"),
    (r"; save it again, or open the bare network with smilenn\.open_net", "; save it again"),
    (r"a network without an estimator; open it with smilenn\.open_net", "a bare network, which Python alone opens"),
    (r"; import the module that registers them( \(.*?\))? first to", r"; only Python code that registers them\1 can"),
    (r"holds a (\w+); this version knows 'SmileRegressor', 'SmileClassifier'", r"holds a \1, which Python alone loads"),
    (r"; call torch\.set_flush_denormal\(False\)", "; run it on another machine, or on the CPU"),
)
COMPILED = tuple((re.compile(pattern), words) for pattern, words in PHRASES)


def in_options(text: str) -> str:
    """The message in the words of the command line.

    >>> in_options("time_limit must be more than 0 seconds, not 0.0.")
    '--time-limit must be more than 0 seconds, not 0.0.'
    """
    for pattern, words in COMPILED:
        text = pattern.sub(words, text)
    return text
