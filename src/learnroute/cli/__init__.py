"""The command line: arguments in, tables or JSON out, exit code 0 or 2 (`verify`: 1 refuted, 3 not checked)."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TextIO

import click

from learnroute import __version__
from learnroute.errors import InputError, did_you_mean, printable
from learnroute.interrupts import exit_on_interrupt
from learnroute.stale_core import newer_sources

EXAMPLE = """\b
Example:
  learnroute generate --family euclidean --regions 10 -o problem.json
  learnroute plan problem.json --plot route.png
"""

# Commands by group, each with its module: only the module of the command in use is imported
GROUPS = {
    "Plan": {
        "plan": "planning",
        "evaluate": "planning",
        "compare": "comparing",
        "verify": "planning",
        "check": "problems",
        "convert": "problems",
        "generate": "problems",
    },
    "Decide": {
        "visits": "visiting",
        "fleet": "visiting",
        "tradeoff": "choosing",
        "robustness": "choosing",
        "learners": "choosing",
        "journey": "choosing",
    },
    "Learn from data": {
        "example": "starting",
        "estimate": "learning",
        "rehearse": "rehearsing",
        "transfer": "training",
        "follow": "training",
        "calibrate": "training",
        "simulate": "learning",
    },
    "Study": {"sweep": "studies", "rows": "studies", "plot": "studies", "reproduce": "reproduction"},
    "Service": {"serve": "serving"},
}
MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed, and listed in sections."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name in MODULES and cmd_name not in self.commands:
            with exit_on_interrupt():
                module = import_module(f"{__name__}.{MODULES[cmd_name]}")
            for command in module.COMMANDS:
                self.add_command(command)
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first argument; suggest a similar name for an unknown one."""
        name = args[0]
        if name not in MODULES and not name.startswith("-"):
            raise click.UsageError(f"unknown command {name!r}; {did_you_mean(name, MODULES)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per group, with the first sentence of each command's help."""
        width = max(map(len, MODULES))
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self._first_sentence(ctx, name)) for name in names])

    def _first_sentence(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        assert command.help is not None
        return " ".join(command.help.partition("\n\n")[0].split())

    def load(self) -> Mapping[str, click.Command]:
        """Return all commands by name."""
        with click.Context(self) as context:
            return {name: command for name in MODULES if (command := self.get_command(context, name)) is not None}


@click.group(cls=LazyGroup, epilog=EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]},
             no_args_is_help=False, invoke_without_command=True)  # fmt: skip
@click.version_option(__version__, prog_name="learnroute")
@click.pass_context
def commands(context: click.Context) -> None:
    """Plan where a moving learner goes to learn."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None, began: float | None = None) -> int:
    """Run the command line and return its exit code; user errors are reported in one line on standard error.

    Time limits count from `began` (of `time.monotonic`), so that they include the time for imports.
    """
    sys.stdout, sys.stderr = _safe_stream(sys.stdout), _safe_stream(sys.stderr)
    stdout = sys.stdout
    if newer := newer_sources():
        _print_error(f"the compiled core is older than {', '.join(newer)}; run `make build`")
    try:
        left = commands.main(args=arguments, prog_name="learnroute", standalone_mode=False, obj=began)
        sys.stdout.flush()
        return left if isinstance(left, int) else 0  # the code passed to Context.exit
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.UsageError as error:
        return _fail(f"{error.format_message()} (see {_path(error.ctx)} --help)")
    except click.ClickException as error:
        first, *others = error.format_message().splitlines() or [""]
        _fail(first)
        for line in others:  # a traceback of the user's own code
            click.echo(printable(line, None), err=True)
        return 2
    except InputError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("the problem does not fit into memory; give fewer regions")
    except ImportError as error:  # a library that is damaged, or that does not fit into memory
        return _fail(f"a library cannot be loaded: {' '.join(str(error).split())}")
    except (click.Abort, KeyboardInterrupt):
        _print_error("interrupted")
        return 130
    except (BrokenPipeError, SystemExit) as gone:
        if isinstance(gone, SystemExit) and sys.stdout is stdout:  # on a broken pipe, click replaces it
            raise
        _discard_rest(stdout)
        return 0
    except OSError as error:
        cause = error.strerror or str(error)
        if _is_from_printing(error):
            _discard_rest(stdout)
            return _fail(f"standard output: cannot be written ({cause})")
        return _fail(f"{error.filename}: {cause}" if error.filename is not None else cause)


def _safe_stream(stream: TextIO | None) -> TextIO:
    """Return a stream that accepts any text; output to a closed stream is discarded."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")
    return stream


def _is_from_printing(error: OSError) -> bool:
    """Return whether an error comes from printing rather than from a named file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else trace.tb_frame.f_globals.get("__name__", "")
    return error.filename is None and (module == __name__ or module.partition(".")[0] in ("click", "rich"))


def _discard_rest(stream: TextIO) -> None:
    """Discard the remaining output of a stream, so that it does not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _path(context: click.Context | None) -> str:
    return context.command_path if context else "learnroute"


def _print_error(message: str) -> None:
    with contextlib.suppress(OSError):  # there is no way to report it
        print(f"learnroute: {printable(' '.join(message.split()))}", file=sys.stderr)


def _fail(message: str) -> int:
    _print_error(message)
    return 2
