# Every float through every elementary function; a few minutes on two cores.
tn_test(slow elementary_all base mpfr)
if(TARGET test_elementary_all)
  target_link_libraries(test_elementary_all PRIVATE elementary_lanes)
  tn_use_openmp(test_elementary_all)
endif()
