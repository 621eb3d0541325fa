# restart.cmake - the tests of both projects: two runs of app, of which the second goes on from what the first has left.
set(run ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 ${MPIEXEC_PREFLAGS} $<TARGET_FILE:app>)
add_test(NAME clean COMMAND ${CMAKE_COMMAND} -E remove_directory ${CMAKE_BINARY_DIR}/run)
add_test(NAME make COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/run/cache)
add_test(NAME first COMMAND ${run} 45)
add_test(NAME second COMMAND ${run} 100)
set_tests_properties(make PROPERTIES DEPENDS clean)
set_tests_properties(first PROPERTIES DEPENDS make PASS_REGULAR_EXPRESSION "done at step 45")
set_tests_properties(second PROPERTIES DEPENDS first PASS_REGULAR_EXPRESSION "restarted from ckpt.40")
set(base ${CMAKE_BINARY_DIR}/run/cache)
set_tests_properties(first second PROPERTIES WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/run
  ENVIRONMENT "SCR_VIRTUAL_NODES=2;SCR_CACHE_BASE=${base};SCR_CNTL_BASE=${base}")
