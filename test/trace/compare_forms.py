# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""compare_forms.py JSONL CSV COUNT: both have these records, field by field."""
import csv
import json
import sys


def text(value):
    """A value of the JSON object as the CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ";".join(value)
    return str(value)


with open(sys.argv[1], encoding="utf-8") as file:
    objects = [json.loads(line) for line in file]
with open(sys.argv[2], encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file, strict=True))

assert len(objects) == len(rows) == int(sys.argv[3]), (len(objects), len(rows))
for record, row in zip(objects, rows):
    assert list(record) == list(row), (list(record), list(row))
    for name, value in record.items():
        assert text(value) == row[name], (name, value, row[name])
        if isinstance(value, int):
            assert abs(value) < 1 << 53, (name, value)
