# The curves of runs as a picture: first of one with a handmade history.
$ mkdir -p runs/a runs/b
$ cat > runs/a/history.jsonl <<'END'
> {"step":0,"loss":0.75,"eval":{"loss":0.8,"accuracy":0.5}}
> {"step":1,"loss":0.5}
> {"step":2,"loss":0.25,"eval":{"loss":0.4,"accuracy":0.875}}
> END
$ tern plot runs/a --title 'a < b & "c"' -o loss.svg; cat loss.svg
| <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="a &lt; b &amp; &quot;c&quot;" width="860" height="704" viewBox="0 0 860 704">
| <style>
|   .ground { fill: #fcfcfb }
|   text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", Arial, sans-serif; font-size: 12px; fill: #20262c }
|   .title { font-size: 17px; font-weight: 600 }
|   .head { font-size: 13px; font-weight: 600 }
|   .soft { fill: #5d666f; font-weight: 400 }
|   .up { text-anchor: end; fill: #5d666f; font-variant-numeric: tabular-nums }
|   .mid { text-anchor: middle; fill: #5d666f; font-variant-numeric: tabular-nums }
|   .grid { stroke: #e3e6e8 }
|   .axis { stroke: #8b949c }
|   .curve { fill: none; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round }
|   .faint { stroke-width: 1; opacity: 0.3 }
|   .dot { stroke: #fcfcfb; stroke-width: 1.2 }
|   .gap { fill: none; stroke-width: 2 }
|   .any { stroke: #5d666f }
|   .anydot { fill: #5d666f }
|   .s0 { stroke: #2463c4 } .f0 { fill: #2463c4 }
|   .s1 { stroke: #d2600a } .f1 { fill: #d2600a }
|   .s2 { stroke: #178556 } .f2 { fill: #178556 }
|   .s3 { stroke: #8a4fd0 } .f3 { fill: #8a4fd0 }
|   .s4 { stroke: #cc2f48 } .f4 { fill: #cc2f48 }
|   .s5 { stroke: #0d8496 } .f5 { fill: #0d8496 }
|   .s6 { stroke: #bd3c92 } .f6 { fill: #bd3c92 }
|   .s7 { stroke: #7d7209 } .f7 { fill: #7d7209 }
|   @media (prefers-color-scheme: dark) {
|     .ground { fill: #14181c }
|     text { fill: #e4e8eb }
|     .soft, .up, .mid { fill: #a3adb6 }
|     .grid { stroke: #2a3036 }
|     .axis { stroke: #737c85 }
|     .dot { stroke: #14181c }
|     .any { stroke: #a3adb6 }
|     .anydot { fill: #a3adb6 }
|     .s0 { stroke: #6ea6ff } .f0 { fill: #6ea6ff }
|     .s1 { stroke: #ff9d4a } .f1 { fill: #ff9d4a }
|     .s2 { stroke: #4ecf97 } .f2 { fill: #4ecf97 }
|     .s3 { stroke: #bb98ff } .f3 { fill: #bb98ff }
|     .s4 { stroke: #ff7d8d } .f4 { fill: #ff7d8d }
|     .s5 { stroke: #4fcbdc } .f5 { fill: #4fcbdc }
|     .s6 { stroke: #ff8ed5 } .f6 { fill: #ff8ed5 }
|     .s7 { stroke: #d3c54a } .f7 { fill: #d3c54a }
|   }
| </style>
| <rect class="ground" width="100%" height="100%"/>
| <text x="24" y="36" class="title">a &lt; b &amp; &quot;c&quot;</text>
| <g><path class="curve s0" d="M24 58h20"/><text x="50" y="62" class="key">training loss</text></g>
| <g><path class="curve s1" d="M161.1 58h20"/><circle cx="171.1" cy="58" r="3.4" class="dot f1"/><text x="187.1" y="62" class="key">evaluation loss</text></g>
| <g><text x="53.8" y="89" class="head">loss</text>
| <line x1="53.8" y1="98" x2="53.8" y2="438" class="grid"/>
| <line x1="444.9" y1="98" x2="444.9" y2="438" class="grid"/>
| <line x1="836" y1="98" x2="836" y2="438" class="grid"/>
| <line x1="53.8" y1="338.2" x2="836" y2="338.2" class="grid"/>
| <text x="45.8" y="342.2" class="up">0.4</text>
| <line x1="53.8" y1="225.9" x2="836" y2="225.9" class="grid"/>
| <text x="45.8" y="229.9" class="up">0.6</text>
| <line x1="53.8" y1="113.5" x2="836" y2="113.5" class="grid"/>
| <text x="45.8" y="117.5" class="up">0.8</text>
| <line x1="53.8" y1="438" x2="836" y2="438" class="axis"/>
| <g><title>training loss: lowest 0.2500 at step 2, highest 0.7500 at step 0, last 0.2500 at step 2</title>
| <path class="curve s0" d="M53.8 141.6 444.9 282 836 422.5"/>
| </g>
| <g><title>evaluation loss: lowest 0.4000 at step 2, highest 0.8000 at step 0, last 0.4000 at step 2</title>
| <path class="curve s1" d="M53.8 113.5 836 338.2"/>
| <circle cx="53.8" cy="113.5" r="3.4" class="dot f1"/><circle cx="836" cy="338.2" r="3.4" class="dot f1"/>
| </g>
| </g>
| <g><text x="53.8" y="471" class="head">accuracy</text>
| <line x1="53.8" y1="480" x2="53.8" y2="650" class="grid"/>
| <line x1="444.9" y1="480" x2="444.9" y2="650" class="grid"/>
| <line x1="836" y1="480" x2="836" y2="650" class="grid"/>
| <line x1="53.8" y1="601.1" x2="836" y2="601.1" class="grid"/>
| <text x="45.8" y="605.1" class="up">0.6</text>
| <line x1="53.8" y1="518.6" x2="836" y2="518.6" class="grid"/>
| <text x="45.8" y="522.6" class="up">0.8</text>
| <line x1="53.8" y1="650" x2="836" y2="650" class="axis"/>
| <g><title>accuracy: lowest 0.5000 at step 0, highest 0.8750 at step 2, last 0.8750 at step 2</title>
| <path class="curve s1" d="M53.8 642.3 836 487.7"/>
| <circle cx="53.8" cy="642.3" r="3.4" class="dot f1"/><circle cx="836" cy="487.7" r="3.4" class="dot f1"/>
| </g>
| </g>
| <line x1="53.8" y1="650" x2="53.8" y2="655" class="axis"/>
| <text x="53.8" y="669" class="mid">0</text>
| <line x1="444.9" y1="650" x2="444.9" y2="655" class="axis"/>
| <text x="444.9" y="669" class="mid">1</text>
| <line x1="836" y1="650" x2="836" y2="655" class="axis"/>
| <text x="836" y="669" class="mid">2</text>
| <text x="444.9" y="688" class="mid">step</text>
| </svg>

# The same runs give the same bytes, to a file or to standard output; JSON has them as a member.
$ tern plot runs/a --title 'a < b & "c"' | cmp - loss.svg
$ tern plot runs/a --title 'a < b & "c"' --json -o loss.svg
| {"ok":true,"form":"svg","file":"loss.svg"}
$ tern plot runs/a --title 'a < b & "c"' --json | python3 -c 'import json,sys
> sys.stdout.write(json.load(sys.stdin)["text"])' | cmp - loss.svg

# Several runs: a colour each, named by the last part of the folder, or whole where that is the same.
$ cp runs/a/history.jsonl runs/b/; mkdir -p other/a; cp runs/a/history.jsonl other/a/
$ tern plot runs/a runs/b/ | grep -o 'class="key">[^<]*'
| class="key">a
| class="key">b
| class="key">training loss
| class="key">evaluation loss
$ tern plot runs/a runs/b other/a | grep -o 'class="key">[^<]*'
| class="key">runs/a
| class="key">runs/b
| class="key">other/a
| class="key">training loss
| class="key">evaluation loss
$ tern plot runs/a runs/b --metric accuracy | grep -o 'class="\(head\|key\)">[^<]*'
| class="key">a
| class="key">b
| class="head">accuracy
$ tern plot runs/a --metric eval_loss | grep -o '<title>[^<]*'
| <title>evaluation loss: lowest 0.4000 at step 2, highest 0.8000 at step 0, last 0.4000 at step 2

# Smoothing takes the mean of neighbours, of fewer near the ends; the values themselves lie after it.
$ tern plot runs/a --metric train_loss --smooth 2 | grep -o '<title>[^<]*'
| <title>training loss: lowest 0.2500 at step 2, highest 0.7500 at step 0, last 0.2500 at step 2
| <title>training loss, mean of 2 steps: lowest 0.2500 at step 2, highest 0.6250 at step 0, last 0.2500 at step 2
$ tern plot runs/a --metric train_loss --smooth 1000 | grep -o '<title>[^<]*'
| <title>training loss: lowest 0.2500 at step 2, highest 0.7500 at step 0, last 0.2500 at step 2
| <title>training loss, mean of 1000 steps: lowest 0.3750 at step 2, highest 0.6250 at step 0, last 0.3750 at step 2

# Of a hundred thousand steps the picture keeps what can be seen, and every peak.
$ mkdir long; awk 'BEGIN { for (i = 0; i < 100000; i++)
>   printf "{\"step\":%d,\"loss\":%s}\n", i, i == 33333 ? 9 : i == 77777 ? 0.5 : 1 + i % 7 / 10 }' > long/history.jsonl
$ tern plot long -o long.svg; test $(wc -c < long.svg) -lt 60000; grep -o '<title>[^<]*' long.svg
| <title>training loss: lowest 0.5000 at step 77777, highest 9.000 at step 33333, last 1.400 at step 99999
$ sed -n 's/.*curve s0" d="M\([^"h]*\)".*/\1/p' long.svg | tr ' ' '\n' | awk 'NR % 2 == 0' | sort -n | sed -n '1p;$p'
| 113.3
| 420

# A run that began and one that is being written; a NaN leaves a gap with a mark.
$ mkdir one; echo '{"step":0,"loss":2}' > one/history.jsonl
$ tern plot one | grep -c '<circle'
| 1
$ printf '{"step":1,"loss":1}\n{"step":2,"lo' >> one/history.jsonl; tern plot one | grep -o '<title>[^<]*'
| <title>training loss: lowest 1.000 at step 1, highest 2.000 at step 0, last 1.000 at step 1
$ mkdir nan; printf '{"step":%d,"loss":%s}\n' 0 1 1 0.5 2 '"NaN"' 3 '"Infinity"' 4 0.25 5 '"-Infinity"' > nan/history.jsonl
$ tern plot nan | grep -o '<title>[^<]*\|.*infinite'
| <title>training loss: lowest 0.2500 at step 4, highest 1.000 at step 0, last -Infinity at step 5
| <title>NaN at step 2
| <title>-Infinity at step 5
| <text x="53.8" y="496" class="soft">× not a number, or infinite
$ mkdir eval; printf '{"step":%d,"loss":1,"eval":{"loss":%s}}\n' 0 1 1 '"NaN"' 2 0.5 > eval/history.jsonl
$ tern plot eval --metric eval_loss | grep -o '<title>[^<]*'
| <title>evaluation loss: lowest 0.5000 at step 2, highest 1.000 at step 0, last 0.5000 at step 2
| <title>NaN at step 1
$ mkdir none; echo '{"step":0,"loss":"NaN"}' > none/history.jsonl; tern plot none | grep -c '<svg'
| 1

# The scale is logarithmic where most of a linear one would be a flat line, or as one wants it.
$ mkdir wide; printf '{"step":%d,"loss":%s}\n' 0 300 1 20 2 1 3 0.004 > wide/history.jsonl
$ tern plot wide | grep -o 'logarithmic\|class="up">[^<]*'
| logarithmic
| class="up">0.01
| class="up">0.1
| class="up">1
| class="up">10
| class="up">100
$ tern plot wide --scale linear | grep -o 'logarithmic\|class="up">[^<]*'
| class="up">0
| class="up">100
| class="up">200
| class="up">300
$ printf '{"step":4,"loss":0}\n' >> wide/history.jsonl; tern plot wide --scale log | grep -o 'values of.*'
| values of 0 and below have no place on a logarithmic axis</text>
$ mkdir tiny; printf '{"step":%d,"loss":%s}\n' 20000 0.00000031 40000 0.00000029 > tiny/history.jsonl
$ tern plot tiny | grep -o 'class="\(up\|mid\)">[^<]*'
| class="up">2.9e-7
| class="up">2.95e-7
| class="up">3e-7
| class="up">3.05e-7
| class="up">3.1e-7
| class="mid">20k
| class="mid">25k
| class="mid">30k
| class="mid">35k
| class="mid">40k
| class="mid">step

# Names are untrusted: the picture stays valid SVG.
$ mkdir "$(printf 'a<b>&"\001\377')"; cp runs/a/history.jsonl a*b*/
$ tern plot a*b* runs/a > odd.svg && python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("odd.svg")'
$ grep -o 'class="key">a[^b][^<]*' odd.svg
| class="key">a&lt;b&gt;&amp;&quot; �
| class="key">a</text>

# Runs by their number in the history of runs; a folder of that name takes precedence.
$ cat > line.ail <<'END'
> model {
>   x [4, 2]
>   labels [4]
>   param W [2, 2]
>   logits = linear(x, W)
> }
> train { loss = xent(logits, labels) steps = 4 lr = 0.1 }
> END
$ tern train line.ail --input 'labels=[0, 1, 0, 1]' --out trained --store runs.db > out || cat out
$ tern plot 1 last --store runs.db | grep -o 'class="key">[^<]*'
| class="key">run 1, line.ail
| class="key">run 1, line.ail
$ tern plot 1 --store runs.db | sed 's/run 1, line.ail/trained/' > 1.svg; tern plot trained | cmp - 1.svg
$ mkdir 1; cp runs/a/history.jsonl 1/; tern plot 1 --store runs.db --metric accuracy | grep -c '<path'
| 1

# What cannot be drawn.
$ tern plot
! error[E_USAGE]: tern plot needs a run: tern plot RUN... -o loss.svg
!    = hint: a run is the folder that `tern train --out` made, or its number in `tern runs`
!
? 2
$ tern plot nowhere
! error[E_FILE_NOT_FOUND]: there is no file `nowhere/history.jsonl`
!    = path: nowhere/history.jsonl
!    = hint: a run is the folder that `tern train --out` made, or its number in `tern runs`
!
? 1
$ tern plot 7 --store runs.db
! error[E_RUN_NOT_FOUND]: there is no run `7` in `runs.db`
!    = run: 7
!    = path: runs.db
!    = hint: `tern runs` lists the runs
!
? 1
$ tern plot last --store none.db; test ! -e none.db
! error[E_RUN_NOT_FOUND]: there is no run `last` in `none.db`
!    = run: last
!    = path: none.db
!    = hint: `tern runs` lists the runs
!
$ mkdir empty; : > empty/history.jsonl; tern plot empty
! error[E_USAGE]: empty has no steps to draw yet
!    = hint: its history grows while `tern train` runs
!
? 2
$ mkdir bad; printf '{"step":0,"loss":1}\n{"step":2,"loss":1}\n{"step":1,"loss":1}\n' > bad/history.jsonl; tern plot bad
! error[E_FILE_CORRUPT]: `bad/history.jsonl` is not a whole history file: line 3 does not follow the step before it
!    = path: bad/history.jsonl
!    = format: history
!    = reason: line 3 does not follow the step before it
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ printf '\177ELF\n' > bad/history.jsonl; tern plot bad --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_CORRUPT","severity":"error","phase":"parse","title":"`bad/history.jsonl` is not a whole history file: line 1 is not a step of a run","fields":{"path":"bad/history.jsonl","format":"history","reason":"line 1 is not a step of a run"},"span":null,"hint":"create the file again; it may be truncated or in another format"}]}
? 1
$ tern plot line.ail
! error[E_FILE_IO_ERROR]: `line.ail/history.jsonl` cannot be read: a part of the path is not a folder
!    = path: line.ail/history.jsonl
!    = io_error_kind: a part of the path is not a folder
!    = hint: check what kind of file it is and who may read it
!
? 1
$ tern plot runs/a --metric loss/eval
! error[E_USAGE]: there is no metric loss/eval; there are loss, train_loss, eval_loss and accuracy
!
? 2
$ tern plot trained --metric accuracy
! error[E_USAGE]: none of these runs has accuracy; the eval block of a program says what is measured
!
? 2
$ tern plot runs/a --scale quadratic
! error[E_USAGE]: a scale is auto, linear or log, not quadratic
!
? 2
$ tern plot runs/a --smooth 0
! error[E_USAGE]: --smooth takes a whole number from 1 up, not 0
!    = hint: --smooth N: also draw the moving average over N steps
!
? 2
$ tern plot runs/a -o loss.png
! error[E_USAGE]: tern plot writes SVG, and loss.png would be something else
!    = hint: name the file loss.svg; rsvg-convert and browsers make other pictures of it
!
? 2
$ echo kept > file; tern plot runs/a -o file/loss.svg; cat file
| kept
! error[E_USAGE]: cannot write file/loss.svg: a part of the path is not a folder
!    = hint: check the folder, its permissions and the free space
!
$ tern plot bad -o loss.svg > out 2>&1; tern plot runs/a --title 'a < b & "c"' | cmp - loss.svg
$ tern plot $(for i in $(seq 33); do echo runs/a; done) 2>&1 | head -1
| error[E_USAGE]: a picture shows at most 32 runs
