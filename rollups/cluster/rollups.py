"""Computes every rollup of pmx from a lake, on Spark 4, through Spark Connect, or on Trino.

    spark-submit rollups/cluster/rollups.py LAKE OUT
    SPARK_REMOTE=sc://host:port python3 rollups/cluster/rollups.py LAKE OUT
    TRINO=http://host:port rollups/cluster/trino.sh LAKE OUT

LAKE is a folder that pmx export lake wrote, OUT one for the results; the engine and this program see both under the same
names. Nothing is added to what is there: each file lies below a folder that is named by what it was computed
from, a run that is repeated writes the same again, and OUT/CURRENT is replaced last. A month whose facts did not change is not read.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from datetime import datetime, timedelta, timezone

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
        sys.exit(f"{folder} has no CURRENT: it is no lake, or not all of it is there yet")
    with open(os.path.join(folder, "CURRENT")) as f:
        name = f.read().strip()
    with open(os.path.join(folder, "manifests", name + ".json"), "rb") as f:
        text = f.read()
    if hashlib.sha256(text).hexdigest() != name:
        sys.exit(f"{folder}: the manifest {name} is not what its name says: it was changed or cut short")
    return json.loads(text), name


def statements():
    """(kind, name, text) of every statement, and the fingerprint of all."""
    folder = os.path.join(HERE, "statements")
    found, sum_of_all = [], hashlib.sha256()
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), "rb") as f:
            text = f.read()
        sum_of_all.update(file.encode() + b"\n" + text)
        found.append(("view" if file < "1" else "part" if file < "2" else "whole", file[3:-4], text.decode()))
    return found, sum_of_all.hexdigest()


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

    def write(self, name, text, target):
        """Writes the rows of a statement as Parquet files into a folder that is not there yet."""
        self.session.sql(text).write.mode("overwrite").parquet("file://" + target)

    def show(self, name, text, targets):
        """Shows what was written into folders as a table."""
        self.session.read.parquet(*["file://" + t for t in targets]).createOrReplaceTempView(name)


class Run:
    def __init__(self, engine, lake, out):
        self.engine, self.lake, self.out = engine, os.path.abspath(lake), os.path.abspath(out)
        self.manifest, self.lake_id = read_current(self.lake)
        if self.manifest.get("kind") != "lake" or self.manifest.get("lake_version") != 1:
            sys.exit(f"{lake} is no lake of a version that this program knows")
        for f in self.manifest["files"]:
            path = os.path.join(self.lake, f["name"])
            if not os.path.isfile(path) or os.path.getsize(path) != f["bytes"]:
                sys.exit(f"{path} is not the file of the manifest: copy the lake again")
        self.statements, self.fingerprint = statements()
        self.files, self.tables = [], set()
        self.computed = 0

    def fills(self, files):
        """Shows some of the fills, and what is a view of them."""
        self.engine.see("fills", self.lake, files)
        for kind, name, text in self.statements:
            if kind == "view":
                self.engine.view(name, text)

    def table(self, name, text, folder):
        """Writes a table below a folder that is named by its input, unless it is there already, whole."""
        target = os.path.join(self.out, folder, name)
        if not os.path.exists(os.path.join(target, DONE)):
            began = time.time()
            shutil.rmtree(target, ignore_errors=True)
            self.engine.write(name, text, target)
            with open(os.path.join(target, DONE), "w"):
                pass
            self.computed += 1
            print(f"{folder}/{name}: {time.time() - began:.1f} s", flush=True)
        return target

    def publish(self, name, text, target):
        """Puts a table into the manifest. Internal ones are steps on the way."""
        if text.startswith("-- Internal"):
            return
        self.tables.add(name)
        for file in sorted(os.listdir(target)):
            if not file.endswith(".parquet"):
                continue
            path = os.path.join(target, file)
            content = hashlib.sha256()
            with open(path, "rb") as f:
                while block := f.read(1 << 20):
                    content.update(block)
            self.files.append({"name": os.path.relpath(path, self.out), "dataset": name, "rows": rows_of(path), "bytes": os.path.getsize(path), "sha256": content.hexdigest()})

    def go(self):
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
        months = {}
        for f in by["fills"]:
            months.setdefault(f["day"][:7], []).append(f)
        parts = {}
        whale = str(self.manifest["whale_min_usd"])
        for month, files in sorted(months.items()):
            folder = f"parts/{month}-{key(self.fingerprint, whale, *sorted(f['name'] for f in files))}"
            todo = [s for s in self.statements if s[0] == "part" and not os.path.exists(os.path.join(self.out, folder, s[1], DONE))]
            if todo:
                self.fills(files)
            for kind, name, text in self.statements:
                if kind == "part":
                    target = self.table(name, text, folder)
                    parts.setdefault((name, text), []).append(target)
        oldest = (datetime.fromtimestamp(self.manifest["as_of"] / 1e6, timezone.utc) - timedelta(days=31)).strftime("%Y-%m-%d")
        self.fills([f for f in by["fills"] if f["day"] >= oldest])
        for (name, text), targets in parts.items():
            self.engine.show(name, text, targets)
            for target in targets:
                self.publish(name, text, target)
        folder = "whole/" + key(self.fingerprint, self.lake_id)
        for kind, name, text in self.statements:
            if kind == "whole":
                target = self.table(name, text, folder)
                self.engine.show(name, text, [target])
                self.publish(name, text, target)
        self.finish(by["fills"])

    def finish(self, facts):
        text = json.dumps({
            "generator": "pmx", "kind": "rollups", "engine": self.engine.name(), "lake": self.lake_id, "statements": self.fingerprint,
            "method": self.manifest["method"], "as_of": self.manifest["as_of"], "whale_min_usd": self.manifest["whale_min_usd"],
            "facts": facts, "tables": sorted(self.tables), "files": self.files}, indent=1).encode() + b"\n"
        name = hashlib.sha256(text).hexdigest()
        os.makedirs(os.path.join(self.out, "manifests"), exist_ok=True)
        for path, content in ((f"manifests/{name}.json", text), ("CURRENT", name.encode() + b"\n")):
            path = os.path.join(self.out, path)
            with open(path + ".part", "wb") as f:
                f.write(content)
                f.flush()
                os.fsync(f.fileno())
            os.replace(path + ".part", path)
        print(f"{self.out}: {len(self.files)} files, {self.computed} tables computed; CURRENT is {name}")


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
