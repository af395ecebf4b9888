"""Computes every rollup of pmx from a lake, on Spark 4, through Spark Connect, or on Trino.

    spark-submit rollups/cluster/rollups.py LAKE OUT
    SPARK_REMOTE=sc://host:port python3 rollups/cluster/rollups.py LAKE OUT
    TRINO=http://host:port rollups/cluster/trino.sh LAKE OUT

LAKE is a folder that pmx export lake wrote, OUT one for the results; the engine and this program see both under the same
names. Nothing is added to what is there: each file lies below a folder that is named by what it was computed
from, a run that is repeated writes the same again, and OUT/CURRENT is replaced last. Where OUT has the results of an earlier lake, the facts
of the days that changed are read, and of the days in which a window begins.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import time
from datetime import date

HERE = os.path.dirname(os.path.abspath(__file__))
DONE = "_SUCCESS.pmx"
NO_CONDITIONS = "SELECT wallet AS condition_id, wallet AS event_slug, wallet AS event_id, wallet AS category FROM lake_wallets LIMIT 0"
FILLS = (
    "ts TIMESTAMP, us BIGINT, wallet STRING, token STRING, side STRING, role STRING, shares DECIMAL(18,6), usd DECIMAL(18,6), "
    "fee DECIMAL(18,6), fee_asset STRING, transaction_hash STRING, log_index INT"
)


def read_current(folder):
    """The manifest that CURRENT names, and its SHA-256."""
    if not os.path.isfile(os.path.join(folder, "CURRENT")):
        sys.exit(f"{folder} has no CURRENT: it is not a lake, or it is incomplete")
    with open(os.path.join(folder, "CURRENT")) as f:
        name = f.read().strip()
    with open(os.path.join(folder, "manifests", name + ".json"), "rb") as f:
        text = f.read()
    if hashlib.sha256(text).hexdigest() != name:
        sys.exit(f"{folder}: the manifest {name} does not match its name: it was changed or cut short")
    return json.loads(text), name


class Statement:
    """A table. Its text ends, if it tells so, in a query of what changed since the run before, behind a line that begins with -- Touched. A comment tells
    of which day a row is (-- Day: COLUMN / UNITS), or which table it follows from within a cohort (-- By cohort, from TABLE)."""

    def __init__(self, file, text):
        self.kind, self.name = "view" if file < "1" else "part" if file < "2" else "whole", file[3:-4]
        self.text, _, self.touched = text.partition("\n-- Touched")
        self.touched = self.touched.partition("\n")[2]
        self.internal = text.startswith("-- Internal")
        cohort = re.search(r"^-- By cohort, from (\w+)\.$", self.text, re.M)
        self.source = cohort and cohort.group(1)

    def of_days(self, days):
        """A condition: a row b of a part is of one of some days since 1970, as the line "-- Day: COLUMN / UNITS" tells."""
        column, units = re.search(r"^-- Day: (\w+)(?: / (\d+))?$", self.text, re.M).groups("1")
        ranges = [f"b.{column} >= {day * int(units)} AND b.{column} < {(day + 1) * int(units)}" for day in sorted(days)]
        return " OR ".join(ranges) or f"b.{column} IS NULL"


def statements():
    """Every statement, and the fingerprint of all."""
    folder = os.path.join(HERE, "statements")
    found, sum_of_all = [], hashlib.sha256()
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), "rb") as f:
            text = f.read()
        sum_of_all.update(file.encode() + b"\n" + text)
        found.append(Statement(file, text.decode()))
    return found, sum_of_all.hexdigest()


def day_of(file):
    """The day of a file of fills, since 1970."""
    return (date.fromisoformat(file["day"]) - date(1970, 1, 1)).days


def by_month(files):
    months = {}
    for f in files:
        months.setdefault(f["day"][:7], []).append(f)
    return months


def key(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


class Spark:
    """What a run asks of an engine, on Spark: on_trino.py does the same."""

    def __init__(self, session):
        self.session = session

    def name(self):
        try:
            return "spark " + self.session.version
        except Exception:  # a server of Spark Connect need not say
            return "spark connect"

    def see(self, dataset, folder, files):
        """Shows files of the lake as lake_ and the name of their dataset."""
        reader = self.session.read
        if dataset == "fills":
            reader = reader.schema(FILLS)
        reader.parquet(*["file://" + os.path.join(folder, f["name"]) for f in files]).createOrReplaceTempView("lake_" + dataset)

    def view(self, name, text):
        self.session.sql(text).createOrReplaceTempView(name)

    def rows(self, text):
        """The rows of a small result."""
        return self.session.sql(text).collect()

    def write(self, name, text, target):
        """Writes the rows of a statement as Parquet files into a folder that is not there yet."""
        self.session.sql(text).write.mode("overwrite").parquet("file://" + target)

    def show(self, name, text, targets):
        """Shows what was written into folders as a table. A statement without rows may have left no file."""
        targets = [t for t in targets if any(f.endswith(".parquet") for f in os.listdir(t))]
        if not targets:
            return self.view(name, f"SELECT n.* FROM ({text}) AS n WHERE 1 = 0")
        self.session.read.parquet(*["file://" + t for t in targets]).createOrReplaceTempView(name)


class Run:
    def __init__(self, engine, lake, out):
        self.engine, self.lake, self.out = engine, os.path.abspath(lake), os.path.abspath(out)
        self.manifest, self.lake_id = read_current(self.lake)
        if self.manifest.get("kind") != "lake" or self.manifest.get("lake_version") != 1:
            sys.exit(f"{lake} is not a lake of a version that this program supports")
        for f in self.manifest["files"]:
            path = os.path.join(self.lake, f["name"])
            if not os.path.isfile(path) or os.path.getsize(path) != f["bytes"]:
                sys.exit(f"{path} does not match the manifest: copy the lake again")
        self.statements, self.fingerprint = statements()
        self.texts = {s.name: s.text for s in self.statements}
        self.sums = {s.source for s in self.statements} & {s.name for s in self.statements if s.kind == "part"}  # that cohorts begin with
        self.files, self.tables = [], set()
        self.computed = 0
        self.before = self.run_before()

    def run_before(self):
        """The manifest of a run of the same definitions over an earlier lake; None where there is none."""
        if not os.path.isfile(os.path.join(self.out, "CURRENT")):
            return None
        before, _ = read_current(self.out)
        same = before.get("statements") == self.fingerprint and before.get("whale_min_usd") == self.manifest["whale_min_usd"]
        return before if same else None

    def there(self, folder, name):
        """Where a table is, if all of it is there."""
        target = os.path.join(self.out, folder, name)
        return target if written(target) is not None else None

    def fills(self, files):
        """Shows some of the fills, and what is a view of them."""
        self.engine.see("fills", self.lake, files)
        for s in self.statements:
            if s.kind == "view":
                self.engine.view(s.name, s.text)

    def table(self, s, text, folder):
        """Writes a table below a folder that is named by its input, unless it is there already, whole."""
        target = os.path.join(self.out, folder, s.name)
        if not self.there(folder, s.name):
            began = time.time()
            shutil.rmtree(target, ignore_errors=True)
            self.engine.write(s.name, text, target)
            os.makedirs(target, exist_ok=True)
            replace(os.path.join(target, DONE), json.dumps(files_in(target, not s.internal)).encode())
            self.computed += 1
            print(f"{folder}/{s.name}: {time.time() - began:.1f} s", flush=True)
        return target

    def publish(self, s, target):
        """Puts a table into the manifest. Internal ones are steps on the way."""
        if s.internal:
            return
        self.tables.add(s.name)
        below = os.path.relpath(target, self.out)
        for f in written(target):
            self.files.append({"name": os.path.join(below, f["name"]), "dataset": s.name, "rows": f["rows"], "bytes": f["bytes"], "sha256": f["sha256"]})

    def done(self):
        """Whether the run before was over this very lake, and all that it published is there."""
        if not self.before or self.before["lake"] != self.lake_id:
            return False
        published = {}
        for f in self.before["files"]:
            published.setdefault(os.path.dirname(f["name"]), {})[os.path.basename(f["name"])] = f["sha256"]
        return all({f["name"]: f.get("sha256") for f in written(os.path.join(self.out, folder)) or []} == files for folder, files in published.items())

    def month_folder(self, month, files):
        return f"parts/{month}-" + key(self.fingerprint, str(self.manifest["whale_min_usd"]), *sorted(f["name"] for f in files))

    def month(self, parts, month, files, was_files):
        """Writes the parts of a month: rows of days whose files are the same are taken from the run before."""
        folder, was_folder = self.month_folder(month, files), self.month_folder(month, was_files)
        todo = [s for s in parts if not self.there(folder, s.name)]
        if not todo:
            return
        same = {f["name"] for f in files} & {f["name"] for f in was_files}
        if not same or not all(self.there(was_folder, s.name) for s in todo):
            self.fills(files)
            for s in todo:
                self.table(s, s.text, folder)
            return
        fresh = [f for f in files if f["name"] not in same]
        changed = {day_of(f) for f in files + was_files if f["name"] not in same}
        self.fills(fresh or files)
        for s in todo:
            self.engine.show("before_" + s.name, s.text, [os.path.join(self.out, was_folder, s.name)])
            stay = f"SELECT b.* FROM before_{s.name} AS b WHERE NOT ({s.of_days(changed)})"
            self.table(s, stay + (f" UNION ALL SELECT n.* FROM ({s.text}) AS n" if fresh else ""), folder)

    def parts(self, fills, sources):
        """Writes and shows all tables that are kept by month, and what changed since the run before of those that others look at."""
        months, was_months = by_month(fills), by_month(self.before["facts"] if self.before else [])
        parts = [s for s in self.statements if s.kind == "part"]
        for month, files in sorted(months.items()):
            self.month(parts, month, files, was_months.get(month, []))
        names, was_names = ({f["name"] for files in ms.values() for f in files} for ms in (months, was_months))
        changed = {day_of(f) for ms in (months, was_months) for files in ms.values() for f in files if f["name"] in names ^ was_names}
        for s in parts:
            targets = [os.path.join(self.out, self.month_folder(month, files), s.name) for month, files in sorted(months.items())]
            self.engine.show(s.name, s.text, targets)
            for target in targets:
                self.publish(s, target)
            if s.name in sources:
                self.engine.show("all_" + s.name, s.text, targets)
                was = [self.there(self.month_folder(month, files), s.name) for month, files in sorted(was_months.items())]
                if self.before and None not in was:
                    self.engine.show("was_" + s.name, s.text, was)
                    self.engine.view("changed_" + s.name, " UNION ALL ".join(f"SELECT b.* FROM {t}_{s.name} AS b WHERE {s.of_days(changed)}" for t in ("all", "was")))
                else:
                    self.before = None  # not all of it is there any more

    def places(self, mapping, folder):
        """Where the tables of each cohort are to be: where the run before left them, if nothing touched them since."""
        cohorts = [row[0] for row in self.engine.rows("SELECT cohort FROM mapping GROUP BY cohort")]
        was = self.before and self.there("whole/" + key(self.fingerprint, self.before["lake"]), mapping.name)
        places = {str(cohort): f"cohorts/{cohort}-" + key(self.fingerprint, self.lake_id) for cohort in sorted(cohorts)}
        if was:
            self.engine.show("before_" + mapping.name, mapping.text, [was])
            touched = {str(row[0]) for row in self.engine.rows(mapping.touched)}
            by_cohort = [s.name for s in self.statements if s.source]
            for cohort, place in self.before["cohorts"].items():
                if cohort in places and cohort not in touched and all(self.there(place, name) for name in by_cohort):
                    places[cohort] = place
        return places

    def cohort(self, s, cohort, place):
        """Writes a table of a cohort."""
        if not self.there(place, s.name):
            if s.source in self.sums:
                self.engine.view(s.source, f"SELECT p.* FROM all_{s.source} AS p JOIN mapping AS m ON m.token = p.token WHERE m.cohort = {cohort}")
            else:
                self.engine.show(s.source, self.texts[s.source], [os.path.join(self.out, place, s.source)])
            self.table(s, s.text, place)
        return os.path.join(self.out, place, s.name)

    def wholes(self, folder):
        """Writes and shows all other tables. Gives where those of each cohort are."""
        places = {}
        for s in self.statements:
            if s.kind != "whole":
                continue
            if s.source:
                targets = [self.cohort(s, cohort, place) for cohort, place in places.items()]
                if s.source not in self.sums:
                    self.engine.show(s.source, self.texts[s.source], [os.path.join(self.out, place, s.source) for place in places.values()])
            else:
                targets = [self.table(s, s.text, folder)]
            self.engine.show(s.name, s.text, targets)
            for target in targets:
                self.publish(s, target)
            if s.touched:
                places = self.places(s, folder)
        return places

    def go(self):
        if self.done():
            return print(f"{self.out}: {len(self.before['files'])} files, 0 tables computed; CURRENT is what it was")
        by = {}
        for f in self.manifest["files"]:
            by.setdefault(f["dataset"], []).append(f)
        if "fills" not in by:
            sys.exit(f"{self.lake} has no fills")
        for dataset in ("days", "tokens", "wallets", "settings", "conditions"):
            if dataset in by:
                self.engine.see(dataset, self.lake, by[dataset])
        if "conditions" not in by:
            self.engine.view("lake_conditions", NO_CONDITIONS)
        self.fills(by["fills"][-1:])  # where every month is there already, nothing else makes the views that texts name
        self.parts(by["fills"], self.sums)
        begins = {(self.manifest["as_of"] - hours * 3_600_000_000) // 86_400_000_000 for hours in (24, 168, 720)}
        self.fills([f for f in by["fills"] if day_of(f) in begins] or by["fills"][-1:])
        self.finish(by["fills"], self.wholes("whole/" + key(self.fingerprint, self.lake_id)))

    def finish(self, facts, places):
        text = json.dumps({
            "generator": "pmx", "kind": "rollups", "engine": self.engine.name(), "lake": self.lake_id, "statements": self.fingerprint,
            "method": self.manifest["method"], "as_of": self.manifest["as_of"], "whale_min_usd": self.manifest["whale_min_usd"],
            "facts": facts, "cohorts": places, "tables": sorted(self.tables), "files": self.files}, indent=1).encode() + b"\n"
        name = hashlib.sha256(text).hexdigest()
        os.makedirs(os.path.join(self.out, "manifests"), exist_ok=True)
        for path, content in ((f"manifests/{name}.json", text), ("CURRENT", name.encode() + b"\n")):
            replace(os.path.join(self.out, path), content)
        print(f"{self.out}: {len(self.files)} files, {self.computed} tables computed; CURRENT is {name}")


def replace(path, content):
    """Writes a file, which is there whole or not at all."""
    with open(path + ".part", "wb") as f:
        f.write(content)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".part", path)


def files_in(target, whole):
    """What is in the folder of a table that was just written: of each file its size and, if whole, its rows and its SHA-256."""
    files = []
    for name in sorted(f for f in os.listdir(target) if f.endswith(".parquet")):
        path = os.path.join(target, name)
        files.append({"name": name, "bytes": os.path.getsize(path)})
        if whole:
            content = hashlib.sha256()
            with open(path, "rb") as f:
                while block := f.read(1 << 20):
                    content.update(block)
            files[-1].update(rows=rows_of(path), sha256=content.hexdigest())
    return files


def written(target):
    """What files_in told of a folder, if the table was written to its end and its files are there with their sizes; or else None."""
    try:
        with open(os.path.join(target, DONE)) as f:
            files = json.load(f)
        return files if all(os.path.getsize(os.path.join(target, f["name"])) == f["bytes"] for f in files) else None
    except (OSError, ValueError):
        return None


def rows_of(path):
    """How many rows a Parquet file has, as the third field of its footer says, which is a struct of Thrift's compact protocol."""
    with open(path, "rb") as f:
        f.seek(-8, os.SEEK_END)
        length = int.from_bytes(f.read(4), "little")
        f.seek(-8 - length, os.SEEK_END)
        footer = f.read(length)
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = footer[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def skip(kind):
        nonlocal at
        if kind == 3:
            at += 1
        elif kind in (4, 5, 6):
            varint()
        elif kind == 7:
            at += 8
        elif kind == 8:
            size = varint()
            at += size
        elif kind in (9, 10):
            size, of = footer[at] >> 4, footer[at] & 15
            at += 1
            for _ in range(varint() if size == 15 else size):
                skip(3 if of in (1, 2) else of)
        elif kind == 12:
            for _, inner in fields():
                skip(inner)
        elif kind not in (1, 2):
            raise ValueError(f"{path}: a footer with a field of kind {kind}")

    def fields():
        nonlocal at
        number = 0
        while footer[at]:
            kind, step = footer[at] & 15, footer[at] >> 4
            at += 1
            if step:
                number += step
            else:
                zigzag = varint()
                number = (zigzag >> 1) ^ -(zigzag & 1)
            yield number, kind
        at += 1

    for number, kind in fields():
        if number == 3:
            zigzag = varint()
            return (zigzag >> 1) ^ -(zigzag & 1)
        skip(kind)
    raise ValueError(f"{path}: no number of rows in the footer")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if os.environ.get("SPARK_REMOTE"):
        builder = builder.remote(os.environ["SPARK_REMOTE"])
    else:
        builder = builder.appName("pmx rollups").config("spark.sql.session.timeZone", "UTC").config("spark.sql.ansi.enabled", "true")
    spark = builder.getOrCreate()
    try:
        Run(Spark(spark), sys.argv[1], sys.argv[2]).go()
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
