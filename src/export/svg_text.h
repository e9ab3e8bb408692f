/* export/svg_text.h: untrusted text in an SVG. */
#ifndef TN_EXPORT_SVG_TEXT_H
#define TN_EXPORT_SVG_TEXT_H

#include "base/text.h"

/* Text as XML takes it, between tags or in quotes. What XML has no place for is replaced: control characters
 * by a blank, bytes that are no UTF-8 and the two code points that are no characters by U+FFFD. */
void tn_svg_put_safe(tn_text *out, tn_str text);
#endif
