"""`python -m benchmarks.readme`: what README.md says that programs found.

Runs the demo and the Python of README.md, writes what they print behind them and keeps the demo's
picture as docs/demo.png. The table of the comparison comes from `python -m benchmarks.quality
front`; `make readme` runs both. A block that is written stands between the comments <!-- NAME -->
and <!-- /NAME -->.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.kept import ROOT

README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "demo.png"


def block(name: str, text: str) -> str:
    """What stands between the comments of a block."""
    return re.search(f"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.DOTALL)[1]


def rewrite(name: str, lines: list[str], page: Path | None = None) -> None:
    """Replace a block of a page, by default of the README."""
    page = README if page is None else page
    text = page.read_text("utf-8")
    old = f"<!-- {name} -->\n{block(name, text)}<!-- /{name} -->"
    new = "\n".join(lines).strip("\n")
    page.write_text(text.replace(old, f"<!-- {name} -->\n{new}\n<!-- /{name} -->"), "utf-8")


def demo(folder: Path) -> str:
    """What `make demo` prints; its files go to ``folder``/demo."""
    command = [sys.executable, "-m", "convexcluster", "demo", "--out", "demo", "--force"]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"COLUMNS": "80", "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def lesson(text: str) -> str:
    """What the first Python of a page prints."""
    code = re.search("```python\n(.*?)```", text, re.DOTALL)[1]
    with redirect_stdout(io.StringIO()) as heard:
        exec(compile(code, "README.md", "exec"), {})
    return heard.getvalue()


def fenced(text: str) -> list[str]:
    """Output as it was printed."""
    return ["```text", text.rstrip(), "```"]


def main() -> None:
    """Rewrite what the demo and the lines of Python print, and the picture."""
    with tempfile.TemporaryDirectory() as folder:
        rewrite("demo", fenced(demo(Path(folder))))
        shutil.copyfile(Path(folder) / "demo" / "demo.png", PICTURE)
    rewrite("lesson", fenced(lesson(README.read_text("utf-8"))))


if __name__ == "__main__":
    main()
