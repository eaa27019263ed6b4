"""The command line: `python -m attention run "the cat sat on the mat" --d-k 8 --mask window --out run.npz`.

Flags spell the settings. It prints the ledger and the largest difference of the twin runs, and writes the run
to --out. A bad value: exit code 2, the last line of standard error names what arrived, and no file is left.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

from . import __version__
from .export import save
from .record import DecodeRun
from .runner import run
from .settings import CHOICES, FULL, LISTS, RANGES, Settings, SettingsError, parse
from .tokens import visible


def main(arguments: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    if options.command != "run":
        return _models(options.command)
    try:
        chosen = {name: value for name, value in vars(options).items() if name in _names() and value is not None}
        done = run(Settings(**{name: parse(name, value) for name, value in chosen.items()}))
        if options.out is not None:
            write(done, Path(options.out))
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: out: {options.out!r} cannot be written: {error.strerror or error}", file=sys.stderr)
        return 2
    print(report(done))
    if options.out is not None:
        print(f"wrote {options.out}")
    return 0


def _models(command: str) -> int:
    """Trains or measures the models of assets/model/; what that needs is not needed for a run."""
    if command == "train":
        from .recipes import main as do
    else:
        from .evaluate import main as do
    return do()


def report(done: DecodeRun) -> str:
    """The ledger, one line a step, the sums, and max|Δ|. Steps count from 1."""
    width = len("multiplies, cached")
    head = ("step", "multiplies, cached", "multiplies, full", "cache bytes", "|Δ|", "token")
    lines = [_line(head, width)]
    for t in range(done.settings.prompt - 1, len(done.tokens)):
        delta = f"{done.step_delta[t].item():.2e}" if done.compared[t] else "-"
        figures = (f"{part[t].item():,}" for part in (done.multiplies_cached, done.multiplies_full, done.cache_bytes))
        lines.append(_line((str(t + 1), *figures, delta, visible(done.tokens[t])), width))
    sums = (f"{part.sum().item():,}" for part in (done.multiplies_cached, done.multiplies_full))
    lines.append(_line(("sum", *sums, "", "", ""), width).rstrip())
    lines.append(f"The first step is the prompt, {done.settings.prompt} of {len(done.tokens)} tokens.")
    lines += _said_by_the_model(done)
    lines.append(f"max|Δ| = {done.max_delta:.3e} ({done.settings.dtype})")
    return "\n".join(lines)


def _said_by_the_model(done: DecodeRun) -> list[str]:
    """What a trained source added to the text, and how well it knows what was typed."""
    lines = []
    if done.stopped is not None:
        reason = {"end": "the document ends", "asked": "as asked", "positions": "positions end"}[done.stopped]
        lines.append(f"The model added {len(done.tokens) - done.typed} tokens: {reason}.")
    if done.nll is not None:
        verdict = ", outside the grammar" if done.outside else ""
        lines.append(f"Mean negative log-likelihood of the text: {done.nll:.2f} nats a token{verdict}.")
    return lines


def write(done: DecodeRun, path: Path) -> None:
    """All of the file or nothing: it takes its name once it is complete."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            save(done, file)
        os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _line(cells: tuple[str, ...], width: int) -> str:
    *figures, token = cells
    return "".join(f"{cell:>{width + 2}}" if i else f"{cell:>5}" for i, cell in enumerate(figures)) + "  " + token


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _names() -> list[str]:
    return [field.name for field in fields(Settings)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attention", description="Self-attention, every number real.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    command = commands.add_parser("run", allow_abbrev=False, help="run a text through the decoder, print the ledger")
    commands.add_parser("train", help="make every file of assets/model/ from its seed")
    commands.add_parser("eval", help="measure the trained models, print the gates, write the model card")
    command.add_argument("text", help="the sentence")
    for field in fields(Settings):
        if field.name != "text":
            command.add_argument(f"--{field.name.replace('_', '-')}", metavar="VALUE", help=_help(field))
    command.add_argument("--out", metavar="FILE", help="write the whole run to this npz file")
    return parser


def _help(field) -> str:
    ranged = field.name in RANGES
    named = ", ".join(CHOICES.get(field.name, ("layer.head, counted from 1",)))
    needed = "{} to {}".format(*RANGES[field.name]) if ranged else named
    usual = {"prompt": "half the text", "rank": FULL, **dict.fromkeys(LISTS, "none")}
    default = usual.get(field.name, field.default)
    return f"{needed} (default: {default})"


if __name__ == "__main__":
    sys.exit(main())
