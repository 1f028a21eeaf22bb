"""The frame of every page that is written: one HTML file that fetches nothing.

The page's own content policy allows exactly its one style and its one script (by their hashes) and images that lie in
the file: even a name that was not escaped could run nothing.
"""

from __future__ import annotations

import base64
import hashlib


def document(title: str, style: str, body: str, script: str = "") -> str:
    """The whole file; `title` and `body` are HTML already."""
    runs = f"script-src 'sha256-{_digest(script)}'; " if script else ""
    end = f"<script>{script}</script>\n" if script else ""
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; {runs}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
{end}</body>
</html>
"""


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
