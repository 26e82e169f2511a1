"""Read and write tidy rows as CSV and Parquet, in pieces, so that memory does not grow with their number."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from learnroute.errors import InputError, install_hint
from learnroute.formats.files import atomic_write, check_destination, exists, is_folder, no_such_file, open_file
from learnroute.study.cells import COLUMNS, Row
from learnroute.study.store import EXPERIMENT_FILE, LOG_FILE, Store

PIECE = 2_000  # rows


def write_rows(rows: Iterable[Row], path: str | Path) -> int:
    """Write rows to a `.csv` or `.parquet` file atomically; return the number of rows.

    CSV files contain numbers with all their digits, true and false, and empty cells for unknown values.
    """
    path = Path(path)
    check_destination(path, WRITERS)
    with atomic_write(path) as temporary:
        return WRITERS[path.suffix.lower()](rows, temporary)


def read_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a `.csv` or `.parquet` file, or of a folder with a store."""
    path = Path(path)
    if is_folder(path):
        if not (path / EXPERIMENT_FILE).exists():
            raise InputError(
                f"is not the folder of a sweep (no {EXPERIMENT_FILE}); give one, or a .csv or .parquet file of rows",
                where=path,
            )
        if not (path / LOG_FILE).exists():
            raise InputError(
                f"has no solved problems yet (no {LOG_FILE}); continue with `learnroute sweep --resume`",
                where=path,
            )
        return Store(path).rows()
    if not exists(path):
        raise no_such_file(path)
    if path.suffix.lower() not in READERS:
        raise InputError(f"unknown format {path.suffix!r}; known are {', '.join(READERS)}, a folder", where=path)
    return READERS[path.suffix.lower()](path)


def _write_csv(rows: Iterable[Row], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([_text(row[name]) for name in COLUMNS])
            count += 1
    return count


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _write_parquet(rows: Iterable[Row], path: Path) -> int:
    arrow, parquet = _arrow()
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    schema = arrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    rows, count = iter(rows), 0
    with parquet.ParquetWriter(path, schema) as writer:
        while piece := list(islice(rows, PIECE)):
            writer.write_table(arrow.Table.from_pylist(piece, schema=schema))
            count += len(piece)
    return count


def _read_csv(path: Path) -> Iterator[Row]:
    with open_file(path, None) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        lines = csv.DictReader(file)
        try:
            _check_columns(path, lines.fieldnames or ())
            for line in lines:
                yield {name: _value(kind, line[name]) for name, kind in COLUMNS.items()}
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text; save the file as UTF-8", where=path) from None
        except InputError:
            raise
        except (ValueError, TypeError, csv.Error) as error:
            raise InputError(str(error), where=path, line=lines.line_num) from None


def _value(kind: type, text: str) -> Any:
    if text == "":
        return None
    if kind is bool:
        return text.lower() == "true"
    return kind(text)


def _read_parquet(path: Path) -> Iterator[Row]:
    arrow, parquet = _arrow()
    with open_file(path, None):  # rejects anything but regular files
        pass
    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names)
            for piece in file.iter_batches(PIECE, columns=list(COLUMNS)):
                yield from piece.to_pylist()
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"not a Parquet file ({' '.join(str(error).split())})", where=path) from None


def _check_columns(path: Path, names: Iterable[str]) -> None:
    missing = [name for name in COLUMNS if name not in set(names)]
    if missing:
        raise InputError(f"has no column {missing[0]!r}; give rows written by `learnroute sweep`", where=path)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"Parquet needs pyarrow (or write .csv): {install_hint('study')}") from None
    return pyarrow, pyarrow.parquet


WRITERS: dict[str, Callable[[Iterable[Row], Path], int]] = {".csv": _write_csv, ".parquet": _write_parquet}
READERS: dict[str, Callable[[Path], Iterator[Row]]] = {".csv": _read_csv, ".parquet": _read_parquet}
