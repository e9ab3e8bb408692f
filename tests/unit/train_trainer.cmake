tn_unit_test(train_trainer train opt plan ref cpu)
