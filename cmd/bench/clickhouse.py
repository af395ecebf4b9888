"""Runs statements in chdb, the embedded ClickHouse. Reads a task as JSON from standard input, and writes the results as JSON to standard output."""

import json
import resource
import sys
import time

from chdb import session


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


task = json.load(sys.stdin)
db = session.Session(task["folder"])
for text in task["prepare"]:
    db.query(text)
began, used = time.monotonic(), processor()
for text in task["timed"]:
    db.query(text)
out = {"seconds": time.monotonic() - began, "processor": processor() - used, "version": db.query("SELECT version()", "TSV").bytes().decode().strip()}
out["sums"] = [db.query(text, "TSV").bytes().decode().strip() for text in task["sums"]]
db.close()
json.dump(out, sys.stdout)
