/* base/clock.h: the time in seconds; 0 if the system has no clock. */
#ifndef TN_BASE_CLOCK_H
#define TN_BASE_CLOCK_H

double tn_clock_steady(void); /* since some moment; never goes back */
double tn_clock_of_day(void); /* since 1970 */
#endif
