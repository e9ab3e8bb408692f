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
command=${1##*/}
# Until the command runs, the process is still this shell, which catches signals of its own. Read without
# another process: on a busy machine its start could outlast the command.
catches() {
  running= caught=
  while read -r key value; do
    case $key in Name:) running=$value ;; SigCgt:) caught=$value ;; esac
  done 2>/dev/null <"/proc/$started/status"
  [ -z "$caught" ] || { [ "$running" = "$command" ] && [ $((0x$caught & bit)) -ne 0 ]; } # empty: it has ended
}
until catches; do :; done
kill -s "$name" "$started" 2>/dev/null
wait "$started"
