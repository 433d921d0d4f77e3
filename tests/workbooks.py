"""Small workbooks, written by hand."""

import datetime as dt
import zipfile
from xml.sax.saxutils import escape

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_MANIFEST = (
    '<?xml version="1.0"?><manifest:manifest xmlns:manifest='
    '"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
)
# Of the formats in the style sheet: plain, a date, a share in per cent.
_PLAIN, _DATE, _PERCENT = 0, 1, 2


def percent(value):
    """A cell that Excel shows in per cent."""
    return ("percent", value)


def write_xlsx(path, **sheets):
    """Write sheets, each a list of rows."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _parts(sheets).items():
            archive.writestr(name, f'<?xml version="1.0"?>{content}')


def write_ods(path, rows, sheet="Sheet1"):
    """Write one sheet of text and numbers."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    table = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    cells = "".join(
        f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>"
        for row in rows
    )
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{office}" '
        f'xmlns:table="{table}" xmlns:text="{text}"><office:body><office:spreadsheet>'
        f'<table:table table:name="{sheet}">{cells}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", _MANIFEST)
        archive.writestr("content.xml", content)


def _ods_cell(value):
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        return (
            '<table:table-cell office:value-type="string">'
            f"<text:p>{escape(value)}</text:p></table:table-cell>"
        )
    return f'<table:table-cell office:value-type="float" office:value="{value}"/>'


def _parts(sheets):
    names = list(sheets)
    numbers = range(1, len(names) + 1)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{k}" r:id="rId{k}"/>'
        for k, name in zip(numbers, names, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{k}" Type="{_RELATIONS}/worksheet" '
        f'Target="worksheets/sheet{k}.xml"/>'
        for k in numbers
    )
    links += f'<Relationship Id="rIdS" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{k}.xml" '
        f'ContentType="{_TYPE}.worksheet+xml"/>'
        for k in numbers
    )
    formats = "".join(
        f'<xf numFmtId="{number}" fontId="0" fillId="0" borderId="0" xfId="0" '
        'applyNumberFormat="1"/>'
        for number in (0, 14, 10)
    )
    parts = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" '
            f'ContentType="{_TYPE}.sheet.main+xml"/>'
            '<Override PartName="/xl/styles.xml" '
            f'ContentType="{_TYPE}.styles+xml"/>{overrides}</Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>"
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
            f"<sheets>{listed}</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'
        ),
        "xl/styles.xml": (
            f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
            '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
            '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
            f'<cellXfs count="3">{formats}</cellXfs></styleSheet>'
        ),
    }
    for k, rows in zip(numbers, sheets.values(), strict=True):
        content = "".join(_row(number, row) for number, row in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{k}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{content}</sheetData></worksheet>'
        )
    return parts


def _row(number, row):
    cells = "".join(
        _cell(f"{chr(ord('A') + j)}{number}", value) for j, value in enumerate(row)
    )
    return f'<row r="{number}">{cells}</row>'


def _cell(place, value):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.date):
        days = (value - dt.date(1899, 12, 30)).days
        return f'<c r="{place}" s="{_DATE}"><v>{days}</v></c>'
    if isinstance(value, tuple):
        return f'<c r="{place}" s="{_PERCENT}"><v>{value[1]}</v></c>'
    return f'<c r="{place}" s="{_PLAIN}"><v>{value}</v></c>'
