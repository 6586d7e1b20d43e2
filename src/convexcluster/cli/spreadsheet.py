"""A sheet of an Excel file → a frame, with openpyxl."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..optional import need
from .dialect import is_header, number
from .raw import MISSING, Raw, name_of, unnamed
from .refusal import Exit, Refusal

if TYPE_CHECKING:
    from .options import Input


def read_xlsx(content: Path | bytes, source: Input) -> Raw:
    """The sheet that is asked for, or the first; rows and columns that are empty are left out."""
    openpyxl = need("openpyxl", "excel")
    pd = need("pandas", "cli")
    name = name_of(source)
    stream = io.BytesIO(content if isinstance(content, bytes) else content.read_bytes())
    try:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError):
        raise Refusal(
            f"{name} is no .xlsx file: if it is text pass --format csv; an older .xls must be "
            "saved as .xlsx first"
        ) from None
    sheets = book.sheetnames
    sheet = source.sheet or sheets[0]
    if sheet not in sheets:
        listed = ", ".join(sheets)
        raise Refusal(f"{name} has no sheet {sheet!r}: --sheet is one of {listed}", Exit.USAGE)
    lines = [list(line) for line in book[sheet].iter_rows(values_only=True)]
    book.close()
    rows = [k for k, line in enumerate(lines) if any(cell is not None for cell in line)]
    if not rows:
        raise Refusal(f"sheet {sheet!r} of {name} is empty: --sheet names another")
    width = max(len(lines[k]) for k in rows)
    table = pd.DataFrame([lines[k] + [None] * (width - len(lines[k])) for k in rows], dtype=object)
    used = [k for k in table.columns if table[k].notna().any()]
    table = table[used]
    text = [["" if cell is None else str(cell) for cell in row] for row in table.head(200).values]
    header = source.header
    if header is None:
        header = is_header(text[0], text[1:], number)
    names = [cell.strip() for cell in text[0]] if header else [f"x{k}" for k in range(len(used))]
    names, nameless = unnamed(names)
    frame = table.iloc[int(header) :].reset_index(drop=True).set_axis(names, axis=1)
    missing = {*MISSING, *source.missing}
    frame = frame.apply(
        lambda column: column.map(
            lambda cell: None if isinstance(cell, str) and cell in missing else cell
        )
    )
    found: dict[str, Any] = {"format": "xlsx", "sheet": sheet, "header": header}
    if len(sheets) > 1:
        found["other_sheets"] = [other for other in sheets if other != sheet]
    places = rows[int(header) :]
    return Raw(
        frame.infer_objects(),
        nameless=nameless,
        found=found,
        where=lambda row: f"row {places[row] + 1}",
    )
