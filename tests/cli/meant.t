# A list of numbers and rows: the first of each kind is shown.
$ tern eval '[1, 2, [3]]'
! error[E2104]: a row stands among numbers
!   --> <eval>:1:1
!    |
!  1 | [1, 2, [3]]
!    | ^^^^^^^^^^^
!    = expected: 1
!    = got: 1
!    = hint: the elements of a list are all numbers, or all rows of the same length
! note: a number
!   --> <eval>:1:2
!    |
!  1 | [1, 2, [3]]
!    |  ^
! note: a row
!   --> <eval>:1:8
!    |
!  1 | [1, 2, [3]]
!    |        ^^^
! 
? 1
