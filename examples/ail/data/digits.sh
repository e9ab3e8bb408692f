#!/bin/sh
# Draws pictures of digits as CSV: the digit, then 12 * 12 grey values from 0 to 9, row by row.
#
#   sh digits.sh [ROWS [SEED]] > digits.csv
#
# Each is one of ten glyphs, shifted, stretched, slanted and spotted at random. The generator is the
# minimal standard one of Park and Miller, whose products are exact in an awk's numbers, so that the
# same rows come out everywhere.
exec awk -v rows="${1:-300}" -v seed="${2:-1}" '
function draw() {
  seed = (16807 * seed) % 2147483647
  return seed / 2147483647
}

function between(low, high) {
  return low + (high - low) * draw()
}

# Whether the glyph has ink in a column and a row of its own, counted from 1.
function ink(digit, column, row) {
  if (column < 1 || column > 5 || row < 1 || row > 7) return 0
  return substr(glyph[digit], 5 * row - 5 + column, 1) == "#"
}

# Between the four cells around a place.
function shade(digit, across, down,   column, row, x, y) {
  column = int(across + 10) - 10
  row = int(down + 10) - 10
  x = across - column
  y = down - row
  return (1 - y) * ((1 - x) * ink(digit, column, row) + x * ink(digit, column + 1, row)) + \
         y * ((1 - x) * ink(digit, column, row + 1) + x * ink(digit, column + 1, row + 1))
}

function picture(digit,   right, low, wide, high, slant, spots, row, column, down, across, line) {
  right = between(-1.5, 1.5)
  low = between(-1, 1)
  wide = between(0.6, 0.95)
  high = between(0.65, 0.95)
  slant = between(-0.3, 0.3)
  spots = between(0, 2.5)
  line = digit
  for (row = 1; row <= 12; row++) {
    for (column = 1; column <= 12; column++) {
      down = 4 + (row - 6.5 - low) * high
      across = 3 + (column - 6.5 - right) * wide + slant * (down - 4)
      line = line "," int(7 * shade(digit, across, down) + spots * draw())
    }
  }
  return line
}

BEGIN {
  glyph[0] = ".###." "#...#" "#...#" "#...#" "#...#" "#...#" ".###."
  glyph[1] = "..#.." ".##.." "..#.." "..#.." "..#.." "..#.." ".###."
  glyph[2] = ".###." "#...#" "....#" "...#." "..#.." ".#..." "#####"
  glyph[3] = "#####" "...#." "..#.." "...#." "....#" "#...#" ".###."
  glyph[4] = "...#." "..##." ".#.#." "#..#." "#####" "...#." "...#."
  glyph[5] = "#####" "#...." "####." "....#" "....#" "#...#" ".###."
  glyph[6] = "..##." ".#..." "#...." "####." "#...#" "#...#" ".###."
  glyph[7] = "#####" "....#" "...#." "..#.." ".#..." ".#..." ".#..."
  glyph[8] = ".###." "#...#" "#...#" ".###." "#...#" "#...#" ".###."
  glyph[9] = ".###." "#...#" "#...#" ".####" "....#" "...#." ".##.."
  for (i = 0; i < rows; i++) print picture(i % 10)
}'
