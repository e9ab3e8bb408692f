tn_test(fault forged tern data)
