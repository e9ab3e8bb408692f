if(TN_MICROHTTPD_INCLUDE AND SQLite3_INCLUDE_DIR)
  tn_test(board clients board)
endif()
