# The server inside the test, its clients over real sockets.
if(TN_MICROHTTPD_INCLUDE AND SQLite3_INCLUDE_DIR)
  tn_test(board clients board)
  tn_test(board work board)
  tn_test(board curves board)
endif()
