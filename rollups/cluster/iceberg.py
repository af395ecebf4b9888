"""Registers the datasets of a lake as Iceberg tables, where its files lie: nothing is copied or changed.

    python3 rollups/cluster/iceberg.py LAKE WAREHOUSE

WAREHOUSE is a folder for a catalog in SQLite and the metadata of the tables pmx.fills, pmx.tokens and so on. Each run makes
the tables those of the manifest that LAKE/CURRENT names. Use another catalog by its options in pyiceberg's configuration.
"""

import hashlib
import json
import os
import sys

import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lake, warehouse = (os.path.abspath(a) for a in sys.argv[1:])
    if not os.path.isfile(os.path.join(lake, "CURRENT")):
        sys.exit(f"{lake} has no CURRENT: it is not a lake, or it is incomplete")
    with open(os.path.join(lake, "CURRENT")) as f:
        name = f.read().strip()
    with open(os.path.join(lake, "manifests", name + ".json"), "rb") as f:
        text = f.read()
    if hashlib.sha256(text).hexdigest() != name:
        sys.exit(f"{lake}: the manifest {name} does not match its name: it was changed or cut short")
    files = {}
    for f in json.loads(text)["files"]:
        if f["dataset"] in ("shards", "token_shards"):  # the fills again
            continue
        path = os.path.join(lake, f["name"])
        if not os.path.isfile(path) or os.path.getsize(path) != f["bytes"]:
            sys.exit(f"{path} does not match the manifest: copy the lake again")
        files.setdefault(f["dataset"], []).append(path)
    os.makedirs(warehouse, exist_ok=True)
    catalog = SqlCatalog("pmx", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("pmx")
    for dataset, paths in sorted(files.items()):
        table, fresh = f"pmx.{dataset}", f"pmx.{dataset}_{name[:16]}"
        if catalog.table_exists(fresh):  # of a run that was interrupted
            catalog.drop_table(fresh)
        catalog.create_table(fresh, schema=pq.read_schema(paths[0])).add_files(["file://" + p for p in paths])
        if catalog.table_exists(table):
            catalog.drop_table(table)  # the entry alone: the files are the lake's
        catalog.rename_table(fresh, table)
        rows = sum(int(f["record_count"]) for f in catalog.load_table(table).inspect.files().to_pylist())
        print(f"{table}: {rows} rows in {len(paths)} files")


if __name__ == "__main__":
    main()
