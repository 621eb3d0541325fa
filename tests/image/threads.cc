// threads.cc - threads that run and are joined between two images, thread-local objects with destructors, a recursive
// mutex that is held for a while, what constructors end with, the order in which static objects end.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mpi.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" void at_point(int rank);

namespace {

struct Named {
  explicit Named(const char* n) : name(n) {}
  ~Named() { std::printf("%s ends\n", name.c_str()); }
  std::string name;
};

Named                    first("the first"), second("the second");
thread_local std::string text = "begins";
thread_local Named       local("the local");
std::recursive_mutex     mutex;

__attribute__((constructor)) void seed()
{
  std::srand(42); // a tail call
}

pthread_key_t key;
long          destroyed; // by threads that end, one after the other

void destroy(void* value)
{
  destroyed += *static_cast<long*>(value);
  delete static_cast<long*>(value);
}

long fill(int from)
{
  std::map<int, std::string> m;
  long                       sum = 0;

  for (int i = 0; i < 300; i++) m[from + i] = std::string(static_cast<size_t>(i % 50), 'x');
  for (const auto& one : m) sum += one.first + static_cast<long>(one.second.size());
  return sum;
}

}  // namespace

int main(int argc, char** argv)
{
  int  rank, found, steps = argc > 1 ? std::stoi(argv[1]) : 10;
  long sum = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_key_create(&key, destroy);
  local.name = "the local of rank " + std::to_string(rank);
  for (int i = 0; i < steps; i++) {
    std::vector<std::thread> threads;
    std::vector<long>        sums(4);

    for (int t = 0; t < 4; t++)
      threads.emplace_back([&sums, t, i] { sums[static_cast<size_t>(t)] = fill(t * 1000 + i); });
    for (auto& t : threads) t.join();
    for (long s : sums) sum += s;
    std::thread([i] { pthread_setspecific(key, new long(i)); }).join();
    sum += destroyed;
    text += std::to_string(std::rand() % 10);
    if (i == 3 && argc > 2) mutex.lock();
    at_point(rank);
    for (int k = 0; k < 3 && i == 3 && argc > 2; k++) {
      usleep(1000);
      MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    sum %= 1000003;
    if (i == 3 && argc > 2) mutex.unlock();
  }
  MPI_Finalize();
  std::printf("rank %d: %ld %s\n", rank, sum, text.c_str());
  return 0;
}
