tn_unit_test(ail_lexer ail)
