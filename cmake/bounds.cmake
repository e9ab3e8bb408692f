# Adds launch bounds to PTX: how many threads a block has, and how many blocks a multiprocessor must
# hold. The GPU's assembler allocates registers by them; C cannot express them, so a kernel leaves a
# line in the text: // bounds NAME THREADS BLOCKS. The first line of a kernel counts.
#   cmake -DIN=a.ptx -DOUT=b.ptx -P bounds.cmake
cmake_policy(SET CMP0057 NEW)   # IN_LIST
file(READ ${IN} text)
string(REGEX MATCHALL "// bounds [^\n]*" bounds "${text}")
set(done "")
foreach(line IN LISTS bounds)
  string(REGEX MATCH "// bounds ([A-Za-z0-9_]+) ([0-9*]+) ([0-9]+)" line "${line}")
  set(kernel ${CMAKE_MATCH_1})
  if(kernel IN_LIST done)
    continue()
  endif()
  list(APPEND done ${kernel})
  math(EXPR threads "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "(\\.entry ${kernel}\\([^)]*\\)[^\n]*\n)"
    "\\1.maxntid ${threads}, 1, 1\n.minnctapersm ${CMAKE_MATCH_3}\n" text "${text}")
endforeach()
file(WRITE ${OUT} "${text}")
