find_package(SQLite3 3.37 QUIET)
if(SQLite3_FOUND)
  tn_test(fault store tern store)
endif()
