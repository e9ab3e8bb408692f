#!/bin/sh
# Pictures of every example: Graphviz takes the one kind, an XML reader the other.
# Arguments: the project's root, the program.
root=$(cd "$1" && pwd)
tern=$2
. "$root/tests/tools/expect.sh"

drawn() {   # drawn FORM READER...: FORM of every example that has a graph goes through READER
  form=$1
  shift
  count=0
  for file in "$root"/examples/*/*.ail "$root"/examples/*/*.mind; do
    [ -e "$file" ] || continue
    "$tern" emit "$file" --as "$form" >"$scratch/picture" 2>"$scratch/said" || {
      grep -q E_UNSUPPORTED "$scratch/said" && continue
      echo "$file:"
      cat "$scratch/said"
      return 1
    }
    "$@" "$scratch/picture" || { echo "$file: its picture cannot be read"; return 1; }
    count=$((count + 1))
  done
  [ $count -ge 10 ] || { echo "only $count pictures"; return 1; }
}
with_graphviz() { dot -Tsvg "$1" -o /dev/null; }
with_xml() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }

passes "Graphviz draws what --as dot writes" drawn dot with_graphviz
passes "an XML reader reads what --as svg writes" drawn svg with_xml

printf 'model { x [2] y = relu(x) }\n' >"$scratch/m.ail"
"$tern" emit "$scratch/m.ail" --as svg >"$scratch/picture"
passes "a box shows operation, type and line" grep -q '<title>relu, f32\[2\], line 1</title>' "$scratch/picture"
finish
