# A small classifier on twelve rows.
$ cat > toy.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [20, 8]
>   param W [8, 2]
>   logits = linear(meanpool(embedding(tokens, E)), W)
> }
> train { loss = xent(logits, labels) steps = 25 lr = 0.5 batch = 4 schedule = "cosine" optimizer = "adam" }
> dataset { format = "jsonl" path = "toy.jsonl" split = 0.75 }
> eval { every = 20 metrics = [loss, accuracy] }
> END
$ for i in 0 1 2 3 4 5; do
>   echo "{\"tokens\":[$i,1,2],\"label\":0}"
>   echo "{\"tokens\":[1$i,11,12],\"label\":1}"
> done > toy.jsonl

# Before the first training the history is empty, which is not an error.
$ tern runs
| no runs
$ tern runs --json
| {"ok":true,"runs":[]}
$ tern runs show last
! error[E_RUN_NOT_FOUND]: there is no run `last` in <*>
! ...
? 1

# A run without a folder is not recorded; one with a folder is.
$ tern train toy.ail --allow fileread -q > /dev/null && tern runs
| no runs
$ tern train toy.ail --allow fileread --out a > /dev/null
$ tern train toy.ail --allow fileread --out b --threads 1 > /dev/null
$ tern train toy.ail --allow fileread --out c --seed 7 > /dev/null
$ tern runs | sed 's/20[0-9-]* [0-9:]*/WHEN/; s/[0-9.]* s /TIME /; s/  */ /g; s/^ //'
| run started program status steps loss accuracy time seed weights
| 3 WHEN toy.ail completed 25/25 <*> 7 <*>
| 2 WHEN toy.ail completed 25/25 <*> 42 <*>
| 1 WHEN toy.ail completed 25/25 <*> 42 <*>

# Filters, order, limit.
$ tern runs --where seed=7 --json | tr ',' '\n' | grep -c '"id"'
| 1
$ tern runs --where program=toy.ail --where status=completed --sort seed --limit 2 --json | grep -o '"id":[0-9]*'
| "id":3
| "id":1
$ tern runs --sort -id --json | grep -o '"id":[0-9]*' | head -n 1
| "id":3
$ tern runs --where sead=7
! error[E_USAGE]: a run has no sead
!    = hint: did you mean seed?
! ...
? 2
$ tern runs --where seed
! error[E_USAGE]: a condition is written COLUMN=VALUE, with = != < <= > or >=, not seed
! ...
? 2
$ tern runs shwo 1
! error[E_USAGE]: tern runs has no shwo; there are list, show, compare and rm
!    = hint: did you mean tern runs show?
! ...
? 2

# One run: by number, by folder, or the last.
$ tern runs show a | grep -c '^  step '
| 3
$ tern runs show last --json | grep -o '"losses":\[[^,]*,' ; tern runs show 3 --json | tr ',' '\n' | wc -l
| "losses":[<*>,
| <*>

# The same run on another number of threads agrees in every bit; another seed does not.
$ tern runs compare 1 2 | tail -n 2
| the losses agree in every bit over 25 steps
| the weights agree in every bit
$ tern runs compare 1 3 | grep -E '^(seed|the)'
| seed           42 | 7
| the losses differ from step 0 on: <*> | <*>
| the weights differ
$ tern runs compare 1 3 --json | grep -o '"first_different_step":0,"same_origin":false,"same_weights":false'
| "first_different_step":0,"same_origin":false,"same_weights":false

# A resumed run is the same run.
$ tern train toy.ail --allow fileread --resume a --steps 40 > /dev/null
$ tern runs show 1 --json | grep -o '"status":"completed","program":"toy.ail","step":40,"steps":40'
| "status":"completed","program":"toy.ail","step":40,"steps":40
$ tern runs show 1 --json | grep -o '"losses":\[[^]]*\]' | tr ',' '\n' | wc -l
| 40

# Removing a run from the history leaves its folder.
$ tern runs rm b
| run 2 is forgotten; its folder stays: <*>/b
$ ls b/run.json
| b/run.json

# Every run can be repeated from its folder, also one that was resumed with another number of steps.
$ tern verify a --allow fileread
| verified: every step, the history and the weights agree in every bit
$ tern verify c --allow fileread --threads 1 --json
| {"ok":true,"verified":true,"step":25,"steps":25,"lines_not_compared":0,"weights_file_compared":true,"weights_sha256":"<*>"}
# From any folder: the record has the path to where the run was started, also after everything has
# moved together.
$ (cd / && tern verify "$OLDPWD/a" --allow fileread) && (cd a && tern verify . --allow fileread)
| verified: every step, the history and the weights agree in every bit
| verified: every step, the history and the weights agree in every bit
$ mkdir -p deep/er/place && cp toy.jsonl deep/er && cp -r a deep/er/place/a && (cd deep/er && tern train ../../toy.ail --allow fileread --out ../../elsewhere/run > /dev/null) && grep -o '"base":"[^"]*"' a/run.json elsewhere/run/run.json
| a/run.json:"base":".."
| elsewhere/run/run.json:"base":"../../deep/er"
$ mkdir moved && mv deep elsewhere moved && tern verify moved/elsewhere/run --allow fileread
| verified: every step, the history and the weights agree in every bit
# A record that was moved alone is looked at from the current folder.
$ tern verify moved/deep/er/place/a --allow fileread
| verified: every step, the history and the weights agree in every bit
$ mv moved/elsewhere/run alone && (cd moved && tern verify ../alone --allow fileread)
! error[E_FILE_NOT_FOUND]: there is no file `toy.jsonl`
! ...
? 1
# run.json is sealed: nothing in it can be changed or taken out.
$ sed -i 's/"base":"[^"]*",//' alone/run.json && tern verify alone --allow fileread
! error[E_FILE_CORRUPT]: `alone/run.json` is not a whole run.json file: it was changed: its hash does not match
! ...
? 1
$ sed -i 's/,"tern.sha256":"[^"]*"//' alone/run.json && tern verify alone --allow fileread
! error[E_FILE_CORRUPT]: `alone/run.json` is not a whole run.json file: <*>
! ...
? 1
$ cp -r a old && sed -i 's/,"tern.sha256":"[^"]*"//' old/run.json && tern verify old --allow fileread
! error[E_FILE_CORRUPT]: `old/run.json` is not a whole run.json file: its seal is missing
!    = path: old/run.json
!    = format: run.json
!    = reason: its seal is missing
!    = hint: it was changed, or an older tern wrote it: verify with that one, or train again
!
? 1
# Values from the command line are in the folder too.
$ printf '[[1,2],[3,4],[5,6],[7,8],[9,10],[11,12],[13,14],[15,16]]' > w.json
$ tern train toy.ail --allow fileread --out d --param W=@w.json > /dev/null && rm w.json
$ tern verify d --allow fileread
| verified: every step, the history and the weights agree in every bit
# The weights beside the checkpoint are compared too, and so is what the record says of them.
$ cp -r d w && cp a/weights.safetensors w && tern verify w --allow fileread
! error[E_VERIFY_DIFFERS]: the recorded run and its repetition differ: weights.safetensors, at step 25
! ...
? 1
$ rm w/weights.safetensors && tern verify w --allow fileread
! error[E_FILE_NOT_FOUND]: there is no file `w/weights.safetensors`
! ...
? 1
# Foreign weights are not approved, whatever the record says of itself.
$ cp a/weights.safetensors w && sed -i 's/"status":"completed"/"status":"stopped"/; s/"weights_sha256":"[0-9a-f]/&f/' w/run.json && tern verify w --allow fileread
! error[E_FILE_CORRUPT]: `w/run.json` is not a whole run.json file: <*>
! ...
? 1
# Other files in the folder are not checked, and then the run is not verified.
$ cp -r d extra && echo note > extra/notes.txt && tern verify extra --allow fileread
! error[E_VERIFY_UNCHECKED]: the run in `extra` agrees in every bit, but not all in its folder was checked: notes.txt
!    = path: extra
!    = files: notes.txt
!    = count: 1
!    = hint: move files that do not belong to the run out of its folder
!
? 1
$ tern verify extra --allow fileread --json
| {"ok":false,"diagnostics":[{"code":"E_VERIFY_UNCHECKED",<*>"fields":{"path":"extra","files":"notes.txt","count":"1"},<*>}]}
? 1
# A changed history, changed data and a folder that is not a run are detected.
$ sed -i '5s/"loss":./"loss":9/' c/history.jsonl
$ tern verify c --allow fileread
! error[E_VERIFY_DIFFERS]: the recorded run and its repetition differ: history.jsonl, at step 4
! ...
? 1
$ sed -i '1s/0/1/' toy.jsonl
$ tern verify d --allow fileread
! error[E_CHECKPOINT_MISMATCH]: <*>: it belongs to other data
! ...
? 1
$ mkdir empty && tern verify empty --allow fileread
! error[E_FILE_NOT_FOUND]: <*>empty/run.json<*>
! ...
? 1
$ tern verify d
! error[E_DATASET_CAPABILITY_DENIED]: <*>
! ...
? 1

# A file that is not a history is left alone; a training that asks for it does not start.
$ echo hello > notes.txt
$ tern runs --store notes.txt
! error[E_STORE]: the run history `notes.txt` cannot be used: it is not a database
! ...
? 1
$ tern train toy.ail --allow fileread --store notes.txt
! error[E_STORE]: the run history `notes.txt` cannot be used: it is not a database
! ...
? 1
$ cat notes.txt
| hello
# A history that was not asked for never stops a training.
$ mkdir -p no/tern && echo hello > no/tern/runs.db
$ XDG_DATA_HOME=$PWD/no tern train toy.ail --allow fileread --out e | tail -n 1
| Training completed
! warning[E_RUN_NOT_RECORDED]: this run is not in the history <*>: it is not a database
! ...
# A quiet training reports it too.
$ XDG_DATA_HOME=$PWD/no tern train toy.ail --allow fileread --out e -q | tail -n 1
| Training completed
! warning[E_RUN_NOT_RECORDED]: this run is not in the history <*>: it is not a database
! ...
# Four trainings at once share one history.
$ for i in 1 2 3 4; do tern train toy.ail --allow fileread --out p$i --seed $i --store all.db > /dev/null & done; wait
$ tern runs --store all.db --json | grep -o '"status":"completed"' | wc -l
| 4
# A run in progress is distinguished from one that was killed.
$ sed 's/steps = 25/steps = 1000000000/' toy.ail > long.ail
$ tern train long.ail --allow fileread --out live --checkpoint-every 1000000000 --store live.db > /dev/null 2>&1 &
> for i in $(seq 600); do tern runs --store live.db --json | grep -q '"step":[1-9]' && break; sleep 0.5; done
> tern runs --store live.db --json | grep -o '"status":"[a-z]*"'
> kill -KILL $!
> wait $! 2> /dev/null
> tern runs --store live.db --json | grep -o '"status":"[a-z]*"'
| "status":"running"
| "status":"killed"

# A run that ended because of a NaN keeps its good steps, and they can be repeated.
$ printf 'model {\n  x [B, 4]\n  labels [B]\n  param W [4, 2]\n  logits = matmul(x, W)\n}\ntrain { loss = exp(mul(xent(logits, labels), 40.0)) lr = 5.0 batch = 4 steps = 30 }\n' >diverges.ail
$ tern train diverges.ail --out diverged --checkpoint-every 1 >/dev/null 2>&1
? 1
$ wc -l <diverged/history.jsonl
| 1
$ tern verify diverged
| verified: 1 of 30 steps, the history and the checkpoint agree in every bit
# Lines after the last checkpoint are repeated too.
$ tern train diverges.ail --out sooner >/dev/null 2>&1
? 1
$ wc -l <sooner/history.jsonl
| 1
$ tern verify sooner
| verified: 1 of 30 steps, the history and the checkpoint agree in every bit
$ tern verify sooner --json
| {"ok":true,"verified":true,"step":1,"steps":30,"lines_not_compared":0,"weights_file_compared":false,"weights_sha256":"<*>"}

# A folder has one training at a time; meanwhile it can be neither verified nor removed. The kernel
# releases it.
$ tern train long.ail --allow fileread --out held --checkpoint-every 1000000000 --store held.db > /dev/null 2>&1 &
> for i in $(seq 120); do tern runs --store held.db --json | grep -q '"step":[1-9]' && break; sleep 0.5; done
> tern train toy.ail --allow fileread --out ./held 2>&1 | head -n 1
> tern train toy.ail --allow fileread --resume held 2>&1 | head -n 1
> tern verify held --allow fileread 2>&1 | head -n 1
> tern runs rm last --store held.db 2>&1 | head -n 1
> tern runs show last --store held.db > /dev/null && echo shown
> kill -KILL $!
> wait $! 2> /dev/null
> tern runs rm last --store held.db
> tern verify held --allow fileread
| error[E_RUN_IN_USE]: a training is using the folder `./held`
| error[E_RUN_IN_USE]: a training is using the folder `held`
| error[E_RUN_IN_USE]: a training is using the folder `held`
| error[E_RUN_IN_USE]: a training is using the folder `<*>/held`
| shown
| run 1 is forgotten; its folder stays: <*>/held
| verified: 0 of 1000000000 steps, the history and the checkpoint agree in every bit
