#!/bin/sh
# The elementary functions in MLIR are those of src/base: tools/elementary_mlir.py has been run since they
# changed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python3 "$root/tools/elementary_mlir.py" | cmp -s - "$root/src/export/mlir_elementary.inc.h" || {
  echo "src/export/mlir_elementary.inc.h is old: run tools/elementary_mlir.py --write" >&2
  exit 1
}
