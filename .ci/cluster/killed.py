"""Runs rollups.py on an engine that writes different bytes under the same names each time, kills it, damages what it wrote, and compares each manifest with the files."""

import contextlib
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../rollups/cluster"))
import rollups


class Killed(Exception):
    pass


class Engine:
    """Accepts every statement. A table is one file without rows that contains the number of the run. dies_behind is the table after which the run is killed."""

    def __init__(self, number, dies_behind=None):
        self.number, self.dies_behind, self.wrote, self.asked = number, dies_behind, [], 0

    def name(self):
        return "none"

    def see(self, *_):
        self.asked += 1

    view = show = see

    def rows(self, text):
        self.asked += 1
        return [[0]] if "FROM mapping GROUP BY" in text else []

    def write(self, name, text, target):
        if self.dies_behind in self.wrote:
            raise Killed
        self.wrote.append(name)
        os.makedirs(target)
        footer = b"\x36\x00\x00"  # the third field is 0 rows
        with open(os.path.join(target, "part-00000.parquet"), "wb") as f:
            f.write(b"%08d" % self.number + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def lake(folder):
    files = []
    for name, dataset, day in [("fills/day=2026-03-14/0/fills.parquet", "fills", "2026-03-14"), *((f"{d}/0/{d}.parquet", d, "") for d in ("days", "tokens", "wallets", "settings"))]:
        os.makedirs(os.path.dirname(os.path.join(folder, name)))
        open(os.path.join(folder, name), "w").close()
        files.append({"name": name, "dataset": dataset, "day": day, "bytes": 0})
    text = json.dumps({"kind": "lake", "lake_version": 1, "method": "1", "as_of": 1773446400000000, "whale_min_usd": 0, "files": files}).encode()
    name = hashlib.sha256(text).hexdigest()
    os.makedirs(os.path.join(folder, "manifests"))
    for path, content in ((f"manifests/{name}.json", text), ("CURRENT", name.encode())):
        with open(os.path.join(folder, path), "wb") as f:
            f.write(content)


def run(number, dies_behind=None):
    """Returns the engine of a run, and the folder of each table that it published."""
    engine = Engine(number, dies_behind)
    try:
        rollups.Run(engine, "lake", "out").go()
        assert not dies_behind
    except Killed:
        return engine, None
    manifest, _ = rollups.read_current("out")
    for f in manifest["files"]:
        with open(os.path.join("out", f["name"]), "rb") as content:
            text = content.read()
        assert (len(text), hashlib.sha256(text).hexdigest()) == (f["bytes"], f["sha256"]), f"{f['name']} does not match the manifest"
    return engine, {f["dataset"]: os.path.dirname(os.path.join("out", f["name"])) for f in manifest["files"]}


def main():
    lake("lake")
    first, _ = run(1, "wallet_day")
    second, folders = run(2)
    assert first.wrote and not set(first.wrote) & set(second.wrote), "tables that were written before a run was killed are written again"
    third, _ = run(3)
    assert (third.wrote, third.asked) == ([], 0), "a run over the same lake asks the engine"
    # Two tables are deleted, and the run that writes them again is killed between them.
    for table in ("wallet_day", "wallet_total"):
        shutil.rmtree(folders[table])
    assert run(4, "wallet_day")[0].wrote == ["wallet_day"]
    fifth, _ = run(5)
    assert fifth.wrote == ["wallet_total"], fifth.wrote
    with open(os.path.join(folders["candle"], "part-00000.parquet"), "ab") as f:
        f.write(b"x")
    sixth, _ = run(6)
    assert sixth.wrote == ["candle"], "a file whose size has changed is kept"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(work)
        main()
