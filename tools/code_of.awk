# tools/code_of.awk: a line of C without its comments and strings, for checks that read code.
#
# code_of(line) blanks comments, strings and character constants. A comment may continue over lines:
# `in_comment` carries over; set it to 0 at the start of a file.
function code_of(text,   out, two, c) {
  out = ""
  while (text != "") {
    c = substr(text, 1, 1)
    two = substr(text, 1, 2)
    if (in_comment) {
      if (two == "*/") { in_comment = 0; text = substr(text, 3); out = out " " }
      else text = substr(text, 2)
    } else if (two == "/*") { in_comment = 1; text = substr(text, 3) }
    else if (two == "//") text = ""
    else if (c == "\"" || c == "\047") { text = skip_quoted(text, c); out = out c c }
    else { out = out c; text = substr(text, 2) }
  }
  return out
}
function skip_quoted(text, quote,   c) {
  text = substr(text, 2)
  while (text != "") {
    c = substr(text, 1, 1)
    text = substr(text, c == "\\" ? 3 : 2)
    if (c == quote) break
  }
  return text
}
