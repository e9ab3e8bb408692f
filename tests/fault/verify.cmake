tn_test(fault verify tern data train)
