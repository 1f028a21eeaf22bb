"""CONTRIBUTING.md as the page "Contributing" of the site; its links into docs/ become links between pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PAGE = "contributing.md"


def on_files(files: Files, *, config: Any) -> Files:
    """Add the page."""
    path = Path(config.config_file_path).parent / "CONTRIBUTING.md"
    files.append(File.generated(config, PAGE, content=page(path.read_text(encoding="utf-8"))))
    return files


def page(text: str) -> str:
    """The text with links as the site has them.

    >>> page("[docs/rules.md](docs/rules.md#order)")
    '[docs/rules.md](rules.md#order)'
    """
    return text.replace("](docs/", "](")
