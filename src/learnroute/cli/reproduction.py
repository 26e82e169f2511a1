"""reproduce."""

from __future__ import annotations

from pathlib import Path

import click

from learnroute.cli.common import command, json_option, print_json, report_files, show_progress
from learnroute.cli.paths import OUTPUT
from learnroute.cli.tables import print_table, show
from learnroute.errors import InputError
from learnroute.formats.files import make_folder, write_text
from learnroute.model.table import Table
from learnroute.reproduction.claims import Claim, claims_of
from learnroute.reproduction.measurements import reproduce
from learnroute.reproduction.report import relative, report_text
from learnroute.reproduction.scales import FULL, QUICK
from learnroute.reproduction.tables import write_tables


@command("reproduce", epilog="\b\nExample:\n  learnroute reproduce --quick -o reproduction")
@click.option(
    "--quick", is_flag=True, help="Use fewer and smaller problems: half a minute instead of about ten minutes."
)
@click.option("-o", "--output", type=OUTPUT, metavar="FOLDER", required=True,
              help="Folder for tables, figures, worst instances and the report.")  # fmt: skip
@click.option("--report", type=OUTPUT, metavar="FILE",
              help="Report file (.md).  [default: FOLDER/REPRODUCTION.md]")  # fmt: skip
@click.option("--workers", type=int, metavar="K", help="Number of processes.  [default: one per core]")
@json_option
def reproduce_command(quick: bool, output: Path, report: Path | None, workers: int | None, as_json: bool) -> None:
    """Measure every claim of the paper and report which ones hold.

    Writes tables (CSV), figures (PNG and SVG) and a report. An interrupted run continues when it is started again.
    """
    from learnroute.reproduction.figures import save_figures

    report = report or output / "REPRODUCTION.md"
    if report.suffix.lower() != ".md":
        raise InputError(
            "the report is a Markdown file; give a name that ends in .md", field="--report", found=f"{report}"
        )
    make_folder(output)
    with show_progress() as progress:
        found = reproduce(QUICK if quick else FULL, output, workers, progress)
    write_tables(found, output)
    save_figures(found, output / "figures")
    claims = claims_of(found)
    write_text(report, report_text(found, claims, relative(output, report)))
    report_files(output)
    report_files(report)
    if as_json:
        print_json({"scale": found.scale.name, "claims": [vars(claim) for claim in claims]})
    else:
        _print_claims(claims, output)


COMMANDS = (reproduce_command,)


def _print_claims(claims: list[Claim], folder: Path) -> None:
    rows = [(claim.name, claim.verdict) for claim in claims]
    print_table(Table.of_texts(("claim", "verdict"), rows, left=2))
    for claim in claims:
        figure, _, _ = claim.name.partition(",")
        show(f"{claim.name}: {claim.says.removeprefix(f'{figure}: ')}")
        for finding in claim.findings:
            show(f"  {finding.replace('FOLDER', str(folder))}")
