tn_test(fault stopped tern api)
