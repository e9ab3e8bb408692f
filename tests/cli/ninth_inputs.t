# Every --input is taken by an [INPUT]; one that is left over is a mistake on the command line.
$ echo '[INPUT] [INPUT] [ADD] [PRINT]' > add.nth
$ tern run add.nth --input a=1 --input b=2
| 3
$ tern run add.nth --input a=1 --input b=2 --input c=3
| 3
! error[E_USAGE]: no [INPUT] took the value of c
!    = hint: each [INPUT] that runs takes one value, in the order of --input
!
? 2
$ tern run add.nth --input a=1 --input b=2 --input c=3 --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE","severity":"error","phase":"run","title":"no [INPUT] took the value of c","fields":{"message":"no [INPUT] took the value of c"},"span":null,"hint":"each [INPUT] that runs takes one value, in the order of --input"}],"printed":["3"]}
? 2
$ echo '1 [PRINT]' > none.nth; tern run none.nth --input a=1
| 1
! error[E_USAGE]: no [INPUT] took the value of a
!    = hint: each [INPUT] that runs takes one value, in the order of --input
!
? 2
$ echo '0 [IF] [INPUT] [PRINT] [ENDIF]' > maybe.nth; tern run maybe.nth --input a=1
! error[E_USAGE]: no [INPUT] took the value of a
!    = hint: each [INPUT] that runs takes one value, in the order of --input
!
? 2
$ tern emit none.nth --as graph --input a=1
! error[E_USAGE]: no [INPUT] took the value of a
!    = hint: each [INPUT] that runs takes one value, in the order of --input
!
? 2
