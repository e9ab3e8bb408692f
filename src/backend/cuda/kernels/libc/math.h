/* What of C's library the kernels and the sources they share with the CPU read, for a card. */
#ifndef TN_CARD_MATH_H
#define TN_CARD_MATH_H
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
#define signbit(x) __builtin_signbit(x)
/* Not by their own names: the compiler would put an approximation in their place. */
#define fmodf card_fmodf
#define fmod card_fmod
float card_fmodf(float x, float y);
double card_fmod(double x, double y);
#endif
