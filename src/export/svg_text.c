/* export/svg_text.c: escapes untrusted text for an SVG. */
#include "export/svg_text.h"

#include "base/utf8.h"

static void put_character(tn_text *out, tn_str bytes, uint32_t code) {
  switch (code) {
    case '&': tn_text_puts(out, "&amp;"); break;
    case '<': tn_text_puts(out, "&lt;"); break;
    case '>': tn_text_puts(out, "&gt;"); break;
    case '"': tn_text_puts(out, "&quot;"); break;
    case 0xfffe:
    case 0xffff: tn_text_puts(out, "\xef\xbf\xbd"); break;
    default:
      if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        tn_text_byte(out, ' ');
      else
        tn_text_add(out, bytes);
  }
}

void tn_svg_put_safe(tn_text *out, tn_str text) {
  for (size_t at = 0; at < text.len;) {
    uint32_t code = TN_UTF8_REPLACEMENT;
    size_t length = tn_utf8_decode(text, at, &code);
    if (length == 0)
      tn_text_puts(out, "\xef\xbf\xbd"), length = 1;
    else
      put_character(out, (tn_str){ text.at + at, length }, code);
    at += length;
  }
}
