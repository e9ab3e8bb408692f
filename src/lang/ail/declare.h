/* lang/ail/declare.h: declarations of inputs and parameters. */
#ifndef TN_LANG_AIL_DECLARE_H
#define TN_LANG_AIL_DECLARE_H

#include "lang/ail/constant.h"

/* The input or the param of a declaration; any other statement is passed over. A second one of a name is
 * reported and left out. False when memory ran out. */
bool tn_ail_declare(tn_ail *program, const tn_ail_statement *decl);
/* A param under a name of its own, with the names of `scope` in its dimensions. False when memory ran out. */
bool tn_ail_declare_param(tn_ail *program, const tn_ail_constants *scope, const tn_ail_statement *decl,
                          tn_name name);
/* What is wrong with the declaration of a param is reported; nothing is added. */
bool tn_ail_check_param(const tn_ail *program, const tn_ail_constants *scope, const tn_ail_statement *decl);
#endif
