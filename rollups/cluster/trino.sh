#!/usr/bin/env bash
# Computes every rollup of pmx from a lake on Trino, from the SQL that Spark runs:
#   TRINO=http://host:port rollups/cluster/trino.sh LAKE OUT
# TRINO_CATALOG names the catalog of the Hive connector (hive); docs/cluster.md tells how it is set up.
set -euo pipefail
exec python3 "$(dirname "$0")/on_trino.py" "$@"
