tn_unit_test(mind_lexer mind)
