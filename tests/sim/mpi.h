/* mpi.h - the part of MPI that scr_impl.c uses, for the simulator; mpi.c has it. */
#ifndef SIM_MPI_H
#define SIM_MPI_H
#include <stdint.h>
typedef int                 MPI_Comm, MPI_Datatype, MPI_Op, MPI_Errhandler, MPI_Fint;
typedef struct sim_request* MPI_Request;
typedef struct sim_message* MPI_Message;
typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR, n;
} MPI_Status;
typedef void MPI_User_function(void*, void*, int*, MPI_Datatype*);
enum { MPI_SUCCESS = 0, MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16 };
enum { MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1, MPI_COMM_SELF = 1000 };
enum {
  MPI_DATATYPE_NULL = 0,
  MPI_BYTE = 1,
  MPI_CHAR = 2,
  MPI_INT = 4,
  MPI_INT64_T = 8
}; /* the value is not the size in general */
enum { MPI_OP_NULL = 0, MPI_MAX = 1, MPI_SUM = 2, MPI_MIN = 3 };
enum { MPI_ANY_SOURCE = -1, MPI_PROC_NULL = -2, MPI_ANY_TAG = -1, MPI_UNDEFINED = -32766 };
enum { MPI_ERRORS_RETURN = 1 };
#define MPI_REQUEST_NULL  ((MPI_Request)0)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*, void*);
int MPI_Comm_free_keyval(int*);
int MPI_Comm_set_attr(MPI_Comm, int, void*);
int MPI_Comm_delete_attr(MPI_Comm, int);
int MPI_Comm_dup(MPI_Comm, MPI_Comm*);
int MPI_Comm_free(MPI_Comm*);
int MPI_Comm_rank(MPI_Comm, int*);
int MPI_Comm_size(MPI_Comm, int*);
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int MPI_Comm_test_inter(MPI_Comm, int*);
int MPI_Initialized(int*);
int MPI_Finalized(int*);
int MPI_Finalize(void);
int MPI_Get_count(const MPI_Status*, MPI_Datatype, int*);
int MPI_Iallreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
int MPI_Ibarrier(MPI_Comm, MPI_Request*);
int MPI_Ibcast(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*);
int MPI_Improbe(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);
int MPI_Imrecv(void*, int, MPI_Datatype, MPI_Message*, MPI_Request*);
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Issend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Op_create(MPI_User_function*, int, MPI_Op*);
int MPI_Op_free(MPI_Op*);
int MPI_Test(MPI_Request*, int*, MPI_Status*);
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype*);
int MPI_Type_commit(MPI_Datatype*);
int MPI_Type_free(MPI_Datatype*);
#endif
