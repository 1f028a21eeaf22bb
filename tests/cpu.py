"""A plugin that says where the tests' time goes: CPU seconds of every file, those of its processes included.

    make test ARGS="-p tests.cpu"

CPU seconds depend less than the clock on what else the machine does. Processes that are forked from a common one
(tests/forked.py) are in none of the lines.
"""

from collections import Counter
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest

MOST = 40  # files and tests that are listed


def used() -> float:
    """CPU seconds of this process and of those it has waited for."""
    return sum(part.ru_utime + part.ru_stime for part in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Note what a test takes, with the fixtures that it is the first to ask for."""
    begun = used()
    item.user_properties.append(("cpu", lambda: used() - begun))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """The report of the last phase carries the seconds to the process that sums them up."""
    report = yield
    measure = next((value for name, value in item.user_properties if name == "cpu"), None)
    report.user_properties = [("cpu", measure())] if report.when == "teardown" and callable(measure) else []
    return report


def pytest_terminal_summary(terminalreporter):
    """Files and tests, the longest first."""
    files, tests = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, seconds in getattr(report, "user_properties", ()):
                if name == "cpu":
                    files[report.nodeid.partition("::")[0]] += seconds
                    tests[report.nodeid] += seconds
    terminalreporter.section(f"{sum(files.values()):.0f} CPU seconds")
    for counted in (files, tests):
        for name, seconds in counted.most_common(MOST):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
