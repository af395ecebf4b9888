"""What rollups.py does, on Trino: trino.sh runs it.

Tables are folders there. So each file of the lake, which has a folder of its own, and each folder of results is an external
table, and several of them are put together by a view. All are entries of one schema, which is made for the run and dropped behind
it; dropping them removes no file.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

import rollups

# The columns of the lake that the statements read.
COLUMNS = {
    "fills": "us BIGINT, wallet VARCHAR, token VARCHAR, side VARCHAR, role VARCHAR, shares DECIMAL(18, 6), usd DECIMAL(18, 6), "
    "fee DECIMAL(18, 6), fee_asset VARCHAR, transaction_hash VARCHAR, log_index INTEGER",
    "tokens": "token VARCHAR, condition_id VARCHAR, outcome INTEGER, payout DECIMAL(18, 6), resolved_us BIGINT, desk BOOLEAN",
    "days": "day INTEGER, week INTEGER, month INTEGER",
    "wallets": "wallet VARCHAR",
    "settings": "whale_min_usd BIGINT",
    "conditions": "condition_id VARCHAR, event_slug VARCHAR, event_id VARCHAR, category VARCHAR",
}
TRIES = 5


class Trino:
    def __init__(self, url, catalog):
        self.url, self.catalog, self.schema = url.rstrip("/"), catalog, ""
        self.version = self.run("SELECT node_version FROM system.runtime.nodes WHERE coordinator")[1][0][0]
        self.tables = {}  # by folder

    def name(self):
        return "trino " + self.version

    def __enter__(self):
        schema = f"pmx_{os.getpid()}_{int(time.time())}"
        self.run(f"CREATE SCHEMA {schema}")
        self.schema = schema
        return self

    def __exit__(self, *_):
        self.run(f"DROP SCHEMA {self.schema} CASCADE")

    def send(self, url, body=None):
        """One request of the protocol; a server that is busy, or a broken connection, is asked again, where no statement may have begun."""
        headers = {
            "X-Trino-User": "pmx", "X-Trino-Source": "pmx rollups", "X-Trino-Catalog": self.catalog, "X-Trino-Schema": self.schema, "X-Trino-Time-Zone": "UTC",
            "X-Trino-Session": ",".join(f"{self.catalog}.{p}" for p in ("parquet_use_column_names=true", "collect_column_statistics_on_write=false")),
        }
        for attempt in range(TRIES):
            try:
                with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=600) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as e:
                if e.code not in ((502, 503, 504) if body is None else (503,)) or attempt == TRIES - 1:  # of 502 and 504 a statement may have begun
                    raise
            except (OSError, http.client.HTTPException):
                if body is not None or attempt == TRIES - 1:  # a statement that may have begun is not begun again
                    raise
            time.sleep(1 << attempt)

    def run(self, text):
        """(columns, rows) of a statement."""
        answer, columns, rows = self.send(self.url + "/v1/statement", text.encode()), [], []
        while True:
            if "error" in answer:
                raise RuntimeError(f"{answer['error']['message']}\n{text}")
            columns = answer.get("columns", columns)
            rows += answer.get("data", [])
            if "nextUri" not in answer:
                return columns, rows
            answer = self.send(answer["nextUri"])

    def rows(self, text):
        return self.run(text)[1]

    def see(self, dataset, folder, files):
        self.show_folders("lake_" + dataset, COLUMNS[dataset], [os.path.dirname(os.path.join(folder, f["name"])) for f in files])

    def show_folders(self, name, columns, folders):
        """Shows folders as one table."""
        for folder in folders:
            if folder not in self.tables:
                table = f"folder_{len(self.tables)}"
                self.run(f"CREATE TABLE {table} ({columns}) WITH (format = 'PARQUET', external_location = {location(folder)})")
                self.tables[folder] = table
        self.view(name, " UNION ALL ".join(f"SELECT * FROM {self.tables[folder]}" for folder in folders))

    def view(self, name, text):
        self.run(f"CREATE OR REPLACE VIEW {name} AS {text}")

    def write(self, name, text, target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        table = f"written_{name}"
        try:
            self.run(f"CREATE TABLE {table} WITH (format = 'PARQUET', external_location = {location(target)}) AS {text}")
        except RuntimeError:  # a statement without rows leaves no folder, which is an error there
            if os.path.exists(target) or self.run(f"SELECT COUNT(*) FROM ({text}) AS t")[1] != [[0]]:
                raise
            os.makedirs(target)
            return
        self.run(f"DROP TABLE {table}")
        for number, file in enumerate(sorted(f for f in os.listdir(target) if f[0] not in "._")):
            os.rename(os.path.join(target, file), os.path.join(target, f"part-{number:05}.parquet"))

    def show(self, name, text, targets):
        columns, _ = self.run(f"SELECT * FROM ({text}) AS t LIMIT 0")
        self.show_folders(name, ", ".join(f"{c['name']} {c['type']}" for c in columns), targets)


def location(path):
    return "'local://" + path.replace("'", "''") + "'"


def main():
    if len(sys.argv) != 3 or "TRINO" not in os.environ:
        sys.exit("TRINO=http://host:port rollups/cluster/trino.sh LAKE OUT")
    with Trino(os.environ["TRINO"], os.environ.get("TRINO_CATALOG", "hive")) as engine:
        rollups.Run(engine, sys.argv[1], sys.argv[2]).go()


if __name__ == "__main__":
    main()
