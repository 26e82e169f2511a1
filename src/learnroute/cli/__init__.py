"""The command line: arguments in, tables or JSON out, exit code 0 or 2 (`verify`: 1 refuted, 3 not checked)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from learnroute import __version__
from learnroute.cli import choosing, learning, planning, problems, reproduction, serving, studies
from learnroute.errors import InputError

EXAMPLE = """\b
Example:
  learnroute generate --family euclidean --regions 10 -o problem.json
  learnroute plan problem.json --plot route.png
"""


@click.group(epilog=EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False,
             invoke_without_command=True)  # fmt: skip
@click.version_option(__version__, prog_name="learnroute")
@click.pass_context
def commands(context: click.Context) -> None:
    """Plan the order in which a moving learner visits its regions."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for module in (planning, choosing, problems, learning, reproduction, serving, studies):
    for command in module.COMMANDS:
        commands.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; whatever a user can do wrong ends in one line on standard error."""
    stdout = sys.stdout
    try:
        left = commands.main(args=arguments, prog_name="learnroute", standalone_mode=False)
        sys.stdout.flush()
        return left if isinstance(left, int) else 0  # the code given to Context.exit
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.UsageError as error:
        return _refuse(f"{error.format_message()} (see {_path(error.ctx)} --help)")
    except click.ClickException as error:
        return _refuse(error.format_message())
    except InputError as error:
        return _refuse(str(error))
    except MemoryError:
        return _refuse("the problem does not fit into memory; give fewer regions")
    except (click.Abort, KeyboardInterrupt):
        print("learnroute: interrupted", file=sys.stderr)
        return 130
    except (BrokenPipeError, SystemExit) as gone:
        if isinstance(gone, SystemExit) and sys.stdout is stdout:  # click leaves with another one
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        return 0


def _path(context: click.Context | None) -> str:
    return context.command_path if context else "learnroute"


def _refuse(message: str) -> int:
    print(f"learnroute: {' '.join(message.split())}", file=sys.stderr)
    return 2
