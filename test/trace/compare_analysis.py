# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""compare_analysis.py summary RECORDS SUMMARY | timeline RECORDS TIMELINE | plot SVG

Holds what ibvbuf-trace computes against the records that it prints as JSON.
"""
import json
import math
import re
import sys
import xml.etree.ElementTree
from collections import Counter, defaultdict

REGISTRATIONS = {"ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_mr_iova2", "ibv_reg_dmabuf_mr",
                 "ibv_reg_mr_ex", "ibv_reg_buf_mr"}


def same(what, have, want):
    if have != want:
        sys.exit(f"{what}: {have}, not {want}")


def near(what, have, want):
    if abs(have - want) > want / 50:
        sys.exit(f"{what}: {have}, too far from {want}")


def read_records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def place(record):
    return record["module"], record["module_offset"]


def levels(records):
    """Yields each record with the MRs that live in its process after it."""
    live = defaultdict(dict)
    for record in records:
        mrs = live[record["file"]]
        if not record["error"]:
            if record["call"] in REGISTRATIONS:
                mrs[record["object"], record["lkey"]] = record
            elif record["call"] == "ibv_dereg_mr":
                mrs.pop((record["object"], record["lkey"]), None)
        yield record, mrs, live


def percentile(values, share):
    return sorted(values)[math.ceil(len(values) * share) - 1]


def compare_calls(records, calls):
    same("calls", {call["call"]: call["count"] for call in calls},
         dict(Counter(record["call"] for record in records)))
    for call in calls:
        mine = [record for record in records if record["call"] == call["call"]]
        durations = [record["duration"] for record in mine]
        failed = [record for record in mine if record["error"] and not record["probe"]]
        same("failures", call["failed"], len(failed))
        same("probes", call["probes"], sum(record["probe"] for record in mine))
        same("errors", sum(error["count"] for error in call["errors"]), len(failed))
        same("time", call["time_ns"], sum(durations))
        same("longest", call["max_ns"], max(durations))
        near("median", call["p50_ns"], percentile(durations, 0.5))
        near("99th percentile", call["p99_ns"], percentile(durations, 0.99))


def compare_summary(records, summary):
    most_bytes = most_mrs = 0
    total = Counter()
    live = {}
    for record, mrs, live in levels(records):
        before = total[record["file"], "bytes"]
        if record["call"] in REGISTRATIONS and not record["error"]:
            total[record["file"], "bytes"] = before + record["length"]
        elif record["call"] == "ibv_dereg_mr" and not record["error"]:
            total[record["file"], "bytes"] = before - record["length"]
        total[record["file"], "mrs"] = len(mrs)
        most_bytes = max(most_bytes, sum(n for (_, what), n in total.items() if what == "bytes"))
        most_mrs = max(most_mrs, sum(n for (_, what), n in total.items() if what == "mrs"))

    left = [mr for mrs in live.values() for mr in mrs.values()]
    same("most bytes", summary["all"]["most_bytes"], most_bytes)
    same("most MRs", summary["all"]["most_mrs"], most_mrs)
    same("live MRs", summary["all"]["live"]["mrs"], len(left))
    same("live bytes", summary["all"]["live_bytes"]["mrs"], sum(mr["length"] for mr in left))
    same("live MRs by site",
         sorted(site["live"]["mrs"] for site in summary["sites"] if site["live"]["mrs"]),
         sorted(Counter(map(place, left)).values()))
    same("processes", sum(process["calls"] for process in summary["processes"]), len(records))
    same("sites", sum(site["calls"] for site in summary["sites"]), len(records))
    same("failures", sum(failure["count"] for failure in summary["failures"]),
         sum(1 for record in records if record["error"] and not record["probe"]))
    compare_calls(records, summary["calls"])


def compare_timeline(records, timeline):
    events = timeline["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    counters = [event for event in events if event["ph"] == "C"]
    names = {event["pid"]: event["args"]["name"] for event in events
             if event["name"] == "process_name"}
    threads = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}

    same("slices", len(slices), len(records))
    same("processes", len(names), max(len({record["file"] for record in records}), 1))
    same("threads", {(event["pid"], event["tid"]) for event in slices}, threads)
    for event, record in zip(slices, records):
        begin = max(record["time"], 0)
        end = max(record["time"] + record["duration"], 0)
        if abs(event["ts"] * 1000 - begin) > 0.5 or abs(event["dur"] * 1000 - (end - begin)) > 0.5:
            sys.exit(f"{event} is not at the time of {record}")
        if not event["name"].startswith(record["call"]):
            sys.exit(f"{event} is not {record}")
    changes = iter(counters)
    for record, mrs, _ in levels(records):
        if record["error"] or record["call"] not in REGISTRATIONS | {"ibv_dereg_mr"}:
            continue
        same("bytes", next(changes)["args"]["bytes"], sum(mr["length"] for mr in mrs.values()))
        same("MRs", next(changes)["args"]["MRs"], len(mrs))
    same("counters", next(changes, None), None)


def check_plot(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    texts = 0
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            if not 0 <= float(element.get(name, 0)) <= width:
                sys.exit(f"{element.attrib} is beside the picture")
        for name in ("y", "y1", "y2", "cy"):
            if not 0 <= float(element.get(name, 0)) <= height:
                sys.exit(f"{element.attrib} is above or below the picture")
        if element.get("d"):
            points = re.findall(r"[ML]([\d.-]+) ([\d.-]+)", element.get("d"))
            if not all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points):
                sys.exit("a path leaves the picture")
        texts += element.tag.endswith("text")
    if texts < 8:
        sys.exit(f"only {texts} texts")


def main():
    if sys.argv[1] == "plot":
        check_plot(sys.argv[2])
        return
    records = read_records(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        document = json.load(file)
    {"summary": compare_summary, "timeline": compare_timeline}[sys.argv[1]](records, document)


main()
