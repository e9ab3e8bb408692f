# A chain of `else if` is limited only by memory: its length does not count as nesting.
$ chain() { awk -v n=$1 'BEGIN { print "model {\n  x []\n  param p [2]\n  y ="
>   for (i = 0; i < n; i++) printf "if x == %d then p * %d + x\nelse ", i, i + 1
>   print "p * 1000\n}\ntrain { loss = sum(y) steps = 1 lr = 1 }" }' > chain.ail; }
> for n in 32 33 48 49 5000; do
>   chain $n
>   for x in 0 15 16 31 32 47 48 4999 6000; do
>     tern run chain.ail --input x=$x --param p='[1, 2]' --json | sed 's/.*"data"://; s/}.*//'
>   done | tr '\n' ' '; echo
> done
| [1,2] [31,47] [33,50] [63,95] [1000,2000] [1000,2000] [1000,2000] [1000,2000] [1000,2000] 
| [1,2] [31,47] [33,50] [63,95] [65,98] [1000,2000] [1000,2000] [1000,2000] [1000,2000] 
| [1,2] [31,47] [33,50] [63,95] [65,98] [95,143] [1000,2000] [1000,2000] [1000,2000] 
| [1,2] [31,47] [33,50] [63,95] [65,98] [95,143] [97,146] [1000,2000] [1000,2000] 
| [1,2] [31,47] [33,50] [63,95] [65,98] [95,143] [97,146] [9999,14999] [1000,2000] 

# The gradient goes to the arm that was taken: p - 51 after one step.
$ awk 'BEGIN { print "model {\n  x []\n  param p [2]\n  y ="
>   for (i = 0; i < 100; i++) printf "if x == %d then p * %d + x\nelse ", i, i + 1
>   print "p * 1000\n}\ntrain { loss = sum(y) steps = 1 lr = 1 }" }' > chain.ail
$ tern train chain.ail --input x=50 --param p='[100, 200]' --out run > /dev/null
$ tern run chain.ail --input x=0 --weights run/weights.safetensors | tail -n 1
| First 2 values: [49.0000, 149.0000]

# Arms of different shapes are found anywhere, and only conditions on the taken path are evaluated.
$ sed 's/x == 70 then p/x == 70 then sum(p)/' chain.ail > differs.ail; tern check differs.ail --json
| {"ok":false,"diagnostics":[{"code":"E_IF_BRANCH_SHAPE_MISMATCH",<*>
? 1
$ sed 's/x == 60 then/now() > x then/' chain.ail > clock.ail
$ tern run clock.ail --input x=59 --param p='[1, 2]' | tail -n 1
| First 2 values: [119.0000, 179.0000]
$ tern run clock.ail --input x=61 --json
| {"ok":false,"diagnostics":[{"code":"E_CAPABILITY_DENIED",<*>
? 1

# The reference's own spellings.
$ echo 'on start { emit initialized } model { x [2] param w [] y = x * w } train { loss = sum(y) steps = 1 }' > all.ail
$ tern --validate all.ail
| all.ail: ok
$ tern --run all.ail --seed 7 > a; tern run all.ail --seed 7 | cmp a -
$ tern --train all.ail --seed 7 > a; tern train all.ail --seed 7 | cmp a -
$ tern --run-app all.ail --event start --seed 7 --allow clock > a; tern app all.ail --event start --seed 7 | cmp a -
$ head -n 2 a
| Event: start
| Emitted: initialized

# Too little memory for the text ends parsing too: a failed block was allocated repeatedly.
$ for size in 20K 40K 60K 80K 100K; do tern train chain.ail --max-mem $size --json | grep -o '"code":"E_[A-Z_]*"'; done | sort -u
| "code":"E_MEMORY_LIMIT"
