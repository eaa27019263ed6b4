"""python -m attention run: the file, the ledger, and bad values without a traceback or a file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attention import Settings, run
from attention.__main__ import main
from attention.export import as_bytes

ROOT = Path(__file__).parents[2]
TEXT = "the cat sat on the mat"


def call(*arguments, **more):
    command = [sys.executable, "-m", "attention", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=120, **more)


def test_the_documented_line(tmp_path):
    out = tmp_path / "run.npz"
    flags = ["--source", "random", "--d-k", "8", "--mask", "window", "--width", "3", "--prompt", "3"]
    done = call("run", TEXT, *flags, "--out", str(out))
    assert done.returncode == 0 and done.stderr == ""
    wanted = run(Settings(TEXT, d_k=8, mask="window", width=3, prompt=3))
    assert out.read_bytes() == as_bytes(wanted)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines[1:5]] == ["3", "4", "5", "6"], "steps count from 1"
    for line in lines[1:5]:
        t = int(line[0]) - 1
        figures = [int(figure.replace(",", "")) for figure in line[1:4]]
        assert figures == [
            part[t].item() for part in (wanted.multiplies_cached, wanted.multiplies_full, wanted.cache_bytes)
        ]
        assert float(line[4]) == pytest.approx(wanted.step_delta[t].item(), rel=0.01)
        assert line[5] == wanted.tokens[t]
    assert f"{wanted.multiplies_full.sum().item():,}" in done.stdout
    assert f"max|Δ| = {wanted.max_delta:.3e} (float32)" in done.stdout


def test_every_setting_has_its_flag(tmp_path, capsys):
    values = Settings(TEXT).to_dict() | {
        "split": "characters",
        "d_model": 6,
        "d_k": 4,
        "d_v": 3,
        "heads": 4,
        "kv_heads": 2,
        "layers": 2,
        "mask": "prefix",
        "width": 2,
        "positions": "rotary",
        "pairing": "halves",
        "scale": "off",
        "temperature": 0.5,
        "seed": 9,
        "prompt": 4,
        "breaks": "position,stale",
        "dtype": "float64",
    }
    flags = [
        part for name, value in values.items() if name != "text" for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    assert main(["run", TEXT, *flags, "--out", str(tmp_path / "x.npz")]) == 0
    meta = json.loads(str(np.load(tmp_path / "x.npz")["meta"]))
    assert meta["settings"] == values
    assert "wrote" in capsys.readouterr().out


BAD = [
    (["--d-k", "abc"], "'abc'"),
    (["--d-k", "-1"], "-1"),
    (["--d-k", "5", "--positions", "rotary"], "5"),
    (["--heads", "4", "--kv-heads", "3"], "3"),
    (["--mask", "triangle"], "'triangle'"),
    (["--source", "tea"], "'tea'"),
    (["--zeroed", "1.1"], "1.1"),
    (["--rank", "3"], "3"),
    (["--rank", "half"], "'half'"),
    (["--top-k", "-1"], "-1"),
    (["--breaks", "mask,glass"], "'glass'"),
    (["--temperature", "nan"], "nan"),
    (["--temperature", "warm"], "'warm'"),
    (["--prompt", "7"], "7"),
    (["--prompt", "0"], "0"),
    (["--generate", "2"], "2"),
    (["--mask", "window", "--width", "0"], "0"),
    (["--seed", "1.5"], "'1.5'"),
    (["--seed", "line\nbreak"], r"'line\nbreak'"),
    (["--layer", "1"], "--layer"),
    (["--d-model"], "--d-model"),
]


@pytest.mark.parametrize(("flags", "names"), BAD)
def test_a_bad_value(flags, names, tmp_path, capsys):
    out = tmp_path / "run.npz"
    try:
        code = main(["run", TEXT, "--out", str(out), *flags])
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    assert code not in (0, None)
    assert names in printed.err.splitlines()[-1] and "Traceback" not in printed.err
    assert printed.out == "" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [("", "''"), ("  ", "'  '"), ("a" * 5000, "5000 characters"), ("a " * 600, "600 tokens")],
)
def test_a_bad_text(text, names, tmp_path, capsys):
    assert main(["run", text, "--out", str(tmp_path / "run.npz")]) == 2
    assert names in capsys.readouterr().err.splitlines()[-1] and list(tmp_path.iterdir()) == []


def test_a_bad_value_in_a_process_of_its_own(tmp_path):
    done = call("run", TEXT, "--d-k", "999", "--out", str(tmp_path / "run.npz"))
    assert done.returncode != 0 and "999" in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["missing/run.npz", "."])
def test_a_place_that_cannot_be_written(where, tmp_path, capsys):
    assert main(["run", TEXT, "--out", str(tmp_path / where)]) == 2
    printed = capsys.readouterr()
    assert str(tmp_path / where) in printed.err.splitlines()[-1] and printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_half_way_leaves_what_was_there(tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.npz"
    out.write_text("before")

    def fails(done, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("attention.__main__.save", fails)
    assert main(["run", TEXT, "--out", str(out)]) == 2
    assert "No space left" in capsys.readouterr().err.splitlines()[-1]
    assert out.read_text() == "before" and list(tmp_path.iterdir()) == [out]


def test_a_file_is_replaced_and_readable_as_any_other(tmp_path):
    out = tmp_path / "odd name"
    out.write_text("before")
    assert main(["run", TEXT, "--out", str(out)]) == 0
    assert np.load(out)["0.x"].shape == (6, 16)
    plain = tmp_path / "plain"
    plain.write_text("")
    assert out.stat().st_mode == plain.stat().st_mode


def test_a_terminal_without_unicode():
    done = call("run", "小明 把 书", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "max|\\u0394|" in done.stdout


def test_long_texts_say_where_nothing_was_compared(capsys):
    assert main(["run", " ".join(f"w{i}" for i in range(70)), "--prompt", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:71]]
    assert sum(line[4] == "-" for line in lines) == 60
