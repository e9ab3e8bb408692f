/* What of C's library the kernels and the sources they share with the CPU read, for a card. */
#ifndef TN_CARD_STRING_H
#define TN_CARD_STRING_H
#include <stddef.h>
#define memcpy __builtin_memcpy
#define memset __builtin_memset
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
#endif
