// files.cc - streams of C++ that stay open: written, read, both, with a buffer of the program's; standard input.
#include <fstream>
#include <functional>
#include <iostream>
#include <mpi.h>
#include <sstream>
#include <string>

extern "C" void at_point(int rank);

namespace {

void make_input(const std::string& path)
{
  std::ofstream f(path);

  for (int i = 0; i < 3000; i++) f << i << " line\n";
}

std::string look_at(const std::string& path)
{
  std::ifstream      f(path);
  std::ostringstream text, line;

  text << f.rdbuf();
  line << path << ": " << text.str().size() << " bytes, hash " << std::hash<std::string>()(text.str()) << "\n";
  return line.str();
}

}  // namespace

int main(int argc, char** argv)
{
  static char buffer[100000];
  int         rank, value, steps = argc > 1 ? std::stoi(argv[1]) : 10;
  long        sum = 0, first;
  char        bytes[777];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string name = "files." + std::to_string(rank);
  std::string       word;

  make_input(name + ".in");
  std::ifstream in(name + ".in"), binary(name + ".in", std::ios::binary);
  std::ofstream out(name), large;
  std::fstream  both(name + ".both", std::ios::in | std::ios::out | std::ios::trunc);

  large.rdbuf()->pubsetbuf(buffer, sizeof buffer);
  large.open(name + ".large");
  for (int i = 0; i < steps; i++) {
    in >> value >> word;
    binary.read(bytes, sizeof bytes);
    sum += value + bytes[3];
    out << "step " << i << " " << sum << "\n";
    if (i % 5 == 0) out.flush();
    both.seekp(0, std::ios::end);
    both << sum << "\n";
    both.seekg(0);
    both >> first;
    large << "large " << (sum += first % 17) << "\n";
    if (rank == 0) out << (std::cin >> word ? word : "no more") << "\n";
    at_point(rank);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    sum %= 100000;
  }
  out.close();
  both.close();
  large.close();
  MPI_Finalize();
  std::cout << look_at(name) + look_at(name + ".both") + look_at(name + ".large") << std::flush;
  return 0;
}
