# Every float through the kernel of exp, in every instruction set; about a minute.
tn_test(slow exp_kernel base cpu ref)
if(TARGET test_exp_kernel)
  target_link_libraries(test_exp_kernel PRIVATE elementary_lanes)
endif()
