"""What README promises is done as written: the check by hand works on a file that the command line wrote."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def fenced(language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.S | re.M)


def command() -> list[str]:
    """The command line that README shows, as arguments."""
    line = next(line for line in "".join(fenced()).splitlines() if line.startswith("python -m attention run"))
    return shlex.split(line)[1:]


def python(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "more", [[], ["--heads", "4", "--kv-heads", "2", "--d-v", "5"], ["--dtype", "float64"]]
)
def test_the_check_by_hand(tmp_path, more):
    printed = python(*command(), *more, folder=tmp_path)
    assert "Δ" in printed
    (snippet,) = fenced("python")
    said = python("-c", snippet, folder=tmp_path)
    assert "'mat'" in said
    differences = [float(number) for number in re.findall(r"differ[s]? by (\S+)", said)]
    assert len(differences) == 2
    assert max(differences) < (1e-12 if "float64" in more else 1e-5)


def test_files_that_readme_names_are_there():
    named = re.findall(r"`((?:tests|docs|attention|ui|pages|assets)/[\w./-]*|[\w.]+\.(?:py|txt))`", README)
    made_later = {"tests/bench/results.json", "packages.txt"}
    assert [name for name in named if name not in made_later and not (ROOT / name).exists()] == []


def test_the_picture_at_the_top_is_there():
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", README)
    assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")


def test_pins_are_exact():
    for file in ("requirements.txt", "tests/requirements.txt"):
        lines = (ROOT / file).read_text().splitlines()
        wanted = [line for line in lines if line and not line.startswith(("#", "-r"))]
        assert wanted and all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in wanted), file


def test_the_cpu_index_is_one_comment_away():
    first = (ROOT / "requirements.txt").read_text().splitlines()[0]
    assert first.startswith("# --extra-index-url https://download.pytorch.org/whl/")
