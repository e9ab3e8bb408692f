# --json answers with one object, also when all is well.
$ printf 'let a=1\na+ 2\n' > a.mind; printf '1 2[ADD]\n' > b.nth; printf 'let = \n' > wrong.mind
$ tern fmt --json --check a.mind
| {"ok":false,"language":"mind","diagnostics":[],"changed":true,"text":"let a = 1\na + 2\n"}
? 1
$ tern fmt --json a.mind
| {"ok":true,"language":"mind","warnings":[],"changed":true,"text":"let a = 1\na + 2\n"}
$ tern fmt --json a.mind
| {"ok":true,"language":"mind","warnings":[],"changed":false,"text":"let a = 1\na + 2\n"}
$ tern fmt --json --lang ninth - < b.nth
| {"ok":true,"language":"ninth","warnings":[],"changed":true,"text":"1 2 [ADD]\n"}
$ tern fmt --json a.mind b.nth
| {"diagnostics":[],"changed":1,"ok":true}
$ cat b.nth
| 1 2 [ADD]
$ tern fmt --json wrong.mind | grep -o '"ok":false\|E1001'
| "ok":false
| E1001
$ tern fmt --json a.mind wrong.mind | grep -o '"changed":0\|"ok":false\|E1001'
| E1001
| "changed":0
| "ok":false
# Several files that are wrong, for a person.
$ tern fmt wrong.mind a.mind 2>&1 | head -1
| error[E1001]: <*>
