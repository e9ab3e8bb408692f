#!/bin/sh
# tests/runner/langtest tells programs that do what they say from those that do
# not. A shell script stands in for tern: it prints what stands after `print` in
# the program, or with --json what stands after `json` as it is.
# Arguments: the project's root, the runner.
root=$(cd "$1" && pwd)
runner=$2
. "$root/tests/tools/expect.sh"

mkdir "$scratch/bin"
cat >"$scratch/bin/tern" <<'END'
#!/bin/sh
verb=$1 file=$2
shift 2
case " $* " in
  *" --json "*) sed -n 's/^JSON //p' "$file" ;;
  *) sed -n 's/^PRINT \(.*[^ ]\)  *[/#].*/\1/p' "$file" ;;
esac
sed -n 's/^COMPLAIN //p' "$file" >&2
grep -q '^ECHO' "$file" && { echo "$verb"; for word; do echo "$word"; done; }
grep -q '^HANG' "$file" && sleep 20
grep -q '^CRASH' "$file" && kill -SEGV $$
status=$(sed -n 's/^STATUS \([0-9]*\).*/\1/p' "$file")
exit "${status:-0}"
END
chmod +x "$scratch/bin/tern"
langtest() { TERN_TEST_PATIENCE=1 "$runner" --tern "$scratch/bin/tern" --seconds 1 "$@"; }

# holds WHAT [NAME] / breaks WHAT WORDS [NAME]: a program from standard input.
holds() { put "${2:-case.mind}"; passes "$1" langtest "$scratch/${2:-case.mind}"; }
breaks() { put "${3:-case.mind}"; fails "$1" "$2" langtest "$scratch/${3:-case.mind}"; }

holds "what is printed stands beside the line" <<'END'
PRINT 7       // expect: 7
PRINT a  b    // expect: a  b
END
holds "hash comments in AILang" case.ail <<'END'
PRINT 7   # expect: 7
END
breaks "but not in MIND" "says nothing" <<'END'
PRINT 7   # expect: 7
END
holds "verb and arguments are handed on" <<'END'
ECHO
// verb: check
// args: --seed 1 --input 'x=[1, 2]' "a \"b\""
// expect: check
// expect: --seed
// expect: 1
// expect: --input
// expect: x=[1, 2]
// expect: a "b"
END
holds "the status may be said" <<'END'
STATUS 2   // status: 2
END
breaks "another line" "+ 7" <<'END'
PRINT 7   // expect: 8
END
breaks "a line too many" "+ 8" <<'END'
PRINT 7   // expect: 7
PRINT 8   // no comment
END
breaks "a line that does not come" "- 8" <<'END'
// expect: 8
END
breaks "another status" "wanted 0, got 2" <<'END'
STATUS 2
PRINT 7   // expect: 7
END
breaks "standard error" "on standard error: oh" <<'END'
COMPLAIN oh
PRINT 7   // expect: 7
END
breaks "a crash" "got 139" <<'END'
CRASH
PRINT 7   // expect: 7
END
breaks "a program that hangs" "did not end" <<'END'
HANG
PRINT 7   // expect: 7
END
breaks "a program that says nothing" "says nothing" <<'END'
PRINT 7
END
breaks "a misspelt word" "misspelt" <<'END'
PRINT 7   // expects: 7
END

# diagnosed: the program on standard input with one diagnostic, E2101 at 1:5-1:9.
diagnosed() {
  cat
  cat <<'END'
JSON {"ok":false,"diagnostics":[{"code":"E2101","severity":"error","phase":"check","title":"no fit",
JSON "fields":{"left":"[2, 3]","op":"add"},"span":{"file":"case.mind","line":1,"col":5,"end_line":1,"end_col":9},
JSON "hint":null}],"printed":["1","2\n3"]}
STATUS 1
END
}
rejects() { diagnosed | holds "$1"; }
rejects_not() { diagnosed | breaks "$1" "$2"; }
printed='
// expect: 1
// expect: 2
// expect: 3'

echo "x + y  // error: E2101$printed" | rejects "a code beside its line"
echo "x + y  // error: E2101 :5$printed" | rejects "its column"
echo "x + y  // error: E2101 :5-9$printed" | rejects "its end"
echo "x + y  // error: E2101 1:5-1:9 op=add left=\"[2, 3]\" title='no fit' phase=check$printed" | rejects "its fields"
echo "
// error: E2101 case.mind:1:5 $printed" | rejects "a file"
echo "
// error: E2101$printed" | rejects "no place said"
echo "
x + y  // error: E2101$printed" | rejects_not "another line" "line: wanted 2, got 1"
echo "x + y  // error: E2101 :6$printed" | rejects_not "another column" "col: wanted 6, got 5"
echo "x + y  // error: E2101 :5-8$printed" | rejects_not "another end" "end_col: wanted 8, got 9"
echo "x + y  // error: E2102$printed" | rejects_not "another code" "wanted E2102, got E2101"
echo "x + y  // error: E2101 op=sub$printed" | rejects_not "another field" "field op: wanted sub, got add"
echo "x + y  // error: E2101 of=sub$printed" | rejects_not "a field that is not there" "got (nothing)"
echo "x + y  // error: E2101 nowhere$printed" | rejects_not "a place where none is wanted" "should be nowhere"
echo "x + y  // error: E2101 other.mind:1:5$printed" | rejects_not "another file" "file: wanted other.mind"
echo "x + y  // warning: E2101
// status: 1$printed" | rejects_not "another severity" "severity"
echo "x + y  // error: E2101
// error: E2102$printed" | rejects_not "a diagnostic that does not come" "did not come: E2102"
echo "// status: 1$printed" | rejects_not "an unexpected diagnostic" "case.mind:1: unexpected: E2101"
echo "x + y  // error: E2101" | rejects_not "a line printed before the failure" "+ 2"
echo "x + y  // error: E2101 left$printed" | rejects_not "a word that means nothing" "neither a place"
breaks "an answer that is not JSON" "not JSON" <<'END'
JSON {"ok":false
STATUS 1   // status: 1
END
breaks "an answer that contradicts the status" "contradicts" <<'END'
JSON {"ok":true}
STATUS 1   // status: 1
END
breaks "words on standard error beside an answer" "on standard error" <<'END'
JSON {"ok":false}
COMPLAIN oh
STATUS 1   // status: 1
END
holds "a warning" <<'END'
JSON {"ok":true,"warnings":[{"code":"W1","severity":"warning","fields":{},"span":null}]}
// warning: W1 nowhere
END

holds "a look into the answer" <<'END'
JSON {"ok":true,"outputs":[{"shape":[2,2],"data":[1,2.5,"NaN",4]}]}
// json: outputs[0].shape = [2, 2]
// json: outputs[0].data[1] = 2.50
// json: outputs[0] = {"data": [1, 2.5, "NaN", 4], "shape": [2, 2]}
END
breaks "a look that differs" "differs: outputs[0].shape" <<'END'
JSON {"ok":true,"outputs":[{"shape":[2,2]}]}
// json: outputs[0].shape = [2, 3]
END
breaks "a look at what is not there" "differs: outputs[1]" <<'END'
JSON {"ok":true,"outputs":[{"shape":[2,2]}]}
// json: outputs[1] = null
END

# Folders: sorted, with what begins with _ left out.
rm -rf "$scratch/folder"
echo 'PRINT 7   // expect: 7' | put folder/a.mind
echo 'PRINT 7   // expect: 7' | put folder/deep/b.nth
echo 'no test' | put folder/_lib/c.mind
echo 'no test' | put folder/data.tsv
passes "a folder" langtest "$scratch/folder"
cp "$scratch/.output" "$scratch/said"
passes "has two programs" grep -qx "2 programs, 0 failed" "$scratch/said"
mkdir -p "$scratch/empty"
fails "an empty folder" "0 programs" langtest "$scratch/empty"

put case.mind <<'END'
PRINT 8   // expect: 7
PRINT 9   // expect: 9
END
passes "--update" langtest --update "$scratch/case.mind"
passes "rewrites the line that differs" grep -qx 'PRINT 8   // expect: 8' "$scratch/case.mind"
finish
