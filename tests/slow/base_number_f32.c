/* Every positive finite f32, printed and read back. What the ordinary test samples. */
#include "unit/base_support.h"

#include <math.h>

#include "base/number.h"

static void every_f32_reads_back(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < UINT32_C(255) << 23; bits++) {
    char text[TN_NUMBER_BYTES + 1];
    float number, back;
    uint32_t read;
    memcpy(&number, &bits, sizeof number);
    size_t length = tn_number_print_f32(number, text);
    assert_true(tn_number_parse_f32((tn_str){ text, length }, &back));
    memcpy(&read, &back, sizeof read);
    if (read != bits) fail_msg("%a was printed as %.*s", (double)number, (int)length, text);
    if (bits % 61) continue;
    text[length] = 0;
    if (strtof(text, NULL) != number) fail_msg("libc reads %s differently", text);
  }
}

RUN_TESTS(cmocka_unit_test(every_f32_reads_back))
