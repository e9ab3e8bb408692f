# How many processes a training has: mistakes on the command line, before any process is started.
$ for n in 0 -1 two 1.5 '' 65 99999999999999999999; do tern train x.ail --ranks "$n" 2>&1 | head -1; done
| error[E_USAGE]: --ranks takes a whole number from 1 up, not 0
| error[E_USAGE]: --ranks takes a whole number from 1 up, not -1
| error[E_USAGE]: --ranks takes a whole number from 1 up, not two
| error[E_USAGE]: --ranks takes a whole number from 1 up, not 1.5
| error[E_USAGE]: --ranks takes a whole number from 1 up, not<*>
| error[E_USAGE]: --ranks takes at most 64, not 65; more need mpirun
| error[E_USAGE]: --ranks takes a whole number below 2^64, not 99999999999999999999
$ tern run x.mind --ranks 2
! error[E_USAGE]: --ranks is not an option of tern run
!    = hint: --ranks is for tern train; `tern help run` lists the options of tern run
!
? 2

# Every rank reads the program itself.
$ tern train - --lang ail --ranks 2
! error[E_USAGE]: all ranks read the program, so it cannot come from standard input
!    = hint: name a file
!
? 2

# The variable that only tern itself sets is not trusted.
$ TERN_RANK=3 tern train x.ail
! error[E_RANKS_START]: the ranks of the training cannot be started: TERN_RANK is set, which only tern itself may do
!    = reason: TERN_RANK is set, which only tern itself may do
!    = hint: docs/distributed.md says what several processes need, on one machine and on many
!
? 1
$ TERN_RANK=3 tern train x.ail --json 3< /dev/null | grep -o '"code":"[A-Z_]*"'
| "code":"E_RANKS_START"
$ TERN_RANK=3 tern eval 1
| 1

# Launchers that Open MPI does not support; a single process needs none.
$ SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 tern train x.ail 2>&1 | head -1
| error[E_RANKS_START]: the ranks of the training cannot be started: srun was called without --mpi=pmix
$ PMI_SIZE=2 PMI_RANK=0 tern train x.ail 2>&1 | head -1
| error[E_RANKS_START]: the ranks of the training cannot be started: the launcher uses PMI, which Open MPI does not support; srun needs --mpi=pmix
$ PMI_SIZE=2 PMI_RANK=1 tern train x.ail
? 1
$ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 tern train x.ail --ranks 2
! error[E_USAGE]: --ranks starts processes, and here mpirun or srun has started them
!    = hint: leave --ranks out; the number of ranks is that of the launcher
!
? 2
$ SLURM_STEP_NUM_TASKS=1 tern train x.ail 2>&1 | head -1
| error[E_USAGE]: cannot read x.ail: no such file

# No descriptors for so many; no rank is left waiting.
$ (ulimit -n 20; tern train x.ail --ranks 30 2>&1 | head -1)
| error[E_RANKS_START]: the ranks of the training cannot be started: no socket for a rank: Too many open files

# A failed write is reported once, as without ranks.
$ echo 'model { x [1] param w [1] y = w * x } train { loss = sum(y) steps = 3 batch = 2 shards = 2 }' > small.ail
$ tern train small.ail --input x=[1] --ranks 2 > /dev/full
! tern: cannot write to standard output: No space left on device
? 1

# A mistake in the program is shown once, by rank 0.
$ echo 'model {' > broken.ail; tern train broken.ail --ranks 3 2>&1 | grep '^error'
| error[E_MODEL_EMPTY]: the model block computes nothing
| error[E_SYNTAX_ERROR]: expected `}` at the end of the block, found the end of the text
$ echo '1' > one.mind; tern train one.mind --ranks 2 2>&1 | head -1
| error[E_USAGE]: mind programs are not trained as a whole; .ail programs are
$ tern train broken.ail --ranks 3 --json | grep -o '"ok":false'
| "ok":false
