# What is available and what is missing; enforcement has been tried.
$ tern doctor > found
$ cut -c1-12 found | sed 's/ *$//' | head -6
| tern
| kernels
| processor
| features
| threads
| sandbox
$ grep -cE '^(pthreads|libedit|SQLite|microhttpd|Open MPI|GPU part) +(yes|no)$' found
| 6
$ tern doctor --json | grep -cE '^\{"ok":true,"version":"[0-9.]+","kernels":"[a-z0-9]+","available":\[.*"ref"\],.*"sandbox":\{"landlock":[0-9]+,"seccomp":(true|false),"files":(true|false),"calls":(true|false),"missing":.*\},"libraries":\[.*\]\}$'
| 1
$ TERN_ISA=portable tern doctor | head -2 | tail -1
| kernels     portable<*>
$ tern doctor now
! error[E_USAGE]: tern doctor takes no arguments; what is now?
!    = hint: such as `tern doctor`; `tern help doctor` shows its options
!
? 2
