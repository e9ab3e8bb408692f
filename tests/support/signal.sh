#!/bin/sh
# Runs a command and sends it a signal as soon as it catches that signal, however slow the machine is.
#
#   signal.sh NAME COMMAND...
#
# NAME is INT, TERM or HUP. The status is that of the command.
case $1 in HUP) bit=1 ;; INT) bit=2 ;; TERM) bit=$((1 << 14)) ;; *) echo "signal.sh: $1" >&2; exit 99 ;; esac
name=$1
shift
exec 3<&0 # a shell gives what it starts in the background no standard input
"$@" <&3 &
started=$!
catches() {
  caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$started/status" 2>/dev/null)
  [ -z "$caught" ] || [ $((0x$caught & bit)) -ne 0 ] # empty: it has ended
}
until catches; do :; done
kill -s "$name" "$started" 2>/dev/null
wait "$started"
