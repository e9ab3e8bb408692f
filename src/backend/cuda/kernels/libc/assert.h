/* Nobody is there to be told. */
typedef int tn_card_assert;
#undef assert
#define assert(condition) ((void)0)
