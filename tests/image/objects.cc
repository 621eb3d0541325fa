// objects.cc - a program in C++ that knows nothing of images: containers, strings, streams, exceptions that pass a call
// of MPI, local statics with destructors, thread-local variables, virtual functions, smart pointers, lambdas.
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" void at_point(int rank);

namespace {

struct Shape {
  virtual ~Shape() {}
  virtual double area() const = 0;
};

struct Square : Shape {
  explicit Square(double a) : side(a) {}
  double area() const override { return side * side; }
  double side;
};

struct Circle : Shape {
  explicit Circle(double r) : radius(r) {}
  double area() const override { return 3 * radius * radius; }
  double radius;
};

struct Last {
  explicit Last(int r) : rank(r) {}
  ~Last()
  {
    std::cout << "rank " + std::to_string(rank) + ": the last of " + std::to_string(count) + "\n" << std::flush;
  }
  int rank, count = 0;
};

thread_local int                             calls;
std::map<std::string, std::shared_ptr<Shape>> shapes;

double gather(int rank, int ranks, double mine)
{
  static Last last(rank);
  double      all = 0;

  last.count++;
  calls++;
  at_point(rank);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (calls % 5 == 0) throw std::runtime_error("call " + std::to_string(calls) + " of " + std::to_string(ranks));
  return all;
}

}  // namespace

int main(int argc, char** argv)
{
  int                        rank, ranks, i, steps = argc > 1 ? std::stoi(argv[1]) : 10;
  double                     total = 0;
  std::ostringstream         text;
  std::vector<std::string>   caught;
  std::unique_ptr<double[]>  field(new double[1000]());

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < steps; i++) {
    std::ostringstream name;

    name << "shape " << i % 7 << " of " << rank;
    if (i % 2) shapes[name.str()] = std::make_shared<Square>(i + 0.5);
    else shapes[name.str()] = std::make_shared<Circle>(i + 0.25);
    try {
      auto add = [&](double x) { total += x / (1 + i); };
      add(gather(rank, ranks, shapes[name.str()]->area()));
    } catch (const std::exception& e) {
      caught.push_back(e.what());
      MPI_Barrier(MPI_COMM_WORLD); // within a handler
      try {
        throw;
      } catch (const std::runtime_error& again) {
        total += std::string(again.what()).size();
      }
    }
    field[i % 1000] += total;
  }
  for (const auto& s : shapes) total += s.second->area();
  for (i = 0; i < 1000; i++) total += field[i];
  text << "rank " << rank << ": " << std::fixed << total << ", " << shapes.size() << " shapes, " << caught.size()
       << " caught, the last: " << (caught.empty() ? "none" : caught.back()) << "\n";
  std::cout << text.str() << std::flush;
  MPI_Finalize();
  return 0;
}
