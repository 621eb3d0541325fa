// heat2d.cc - the solver of examples/heat2d.c in C++, with scr.hpp.
//
// The files of its checkpoints are those of the C program, so each continues a run that the other has begun, and ends
// with the same result, bit for bit.  The options and what is printed are the same, too.
//
//   mpicc -c scr_impl.c && mpicxx -std=c++17 heat2d.cc scr_impl.o -lz -lpthread -o heat2d
//   mpiexec -n 4 ./heat2d --nx 1024 --ny 1024 --steps 1000 --interval 100
#include <mpi.h>
#include <sched.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include "scr.hpp"

namespace {

using options = std::map<std::string_view, int>;

// Header of a checkpoint file.  All members have 8 bytes, so that there is no padding.
struct header {
  std::uint64_t magic, step, nx, ny, ranks, x0, y0, w, h;
  double residual;
  std::uint64_t data_crc, head_crc; // CRC32 of the points; CRC32 of the header before this member
};

// "heat2d01"; differs on a machine with the other byte order
constexpr std::uint64_t heat_magic = 0x3130643274616568;

std::uint64_t crc_of(std::uint64_t crc, const void* data, std::size_t bytes) {
  return crc32(static_cast<uLong>(crc), static_cast<const Bytef*>(data), static_cast<uInt>(bytes));
}

// The first point of part I if N points are cut into PARTS.
int part_start(int n, int parts, int i) { return static_cast<int>(std::int64_t{n} * i / parts); }

// The block of this rank: w x h points with a frame of one point, in rows of w + 2.
class block {
public:
  block(int columns, int rows) : nx(columns), ny(rows) {
    const std::array<int, 2> periods{};
    const double ax = (nx + 1.0) * (nx + 1), ay = (ny + 1.0) * (ny + 1);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims.data());
    if (dims[0] > ny || dims[1] > nx) throw std::invalid_argument("grid too small for so many ranks");
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 2, coords.data());
    MPI_Cart_shift(comm, 0, 1, &up, &down);
    MPI_Cart_shift(comm, 1, 1, &left, &right);
    y0 = part_start(ny, dims[0], coords[0]);
    x0 = part_start(nx, dims[1], coords[1]);
    h = part_start(ny, dims[0], coords[0] + 1) - y0;
    w = part_start(nx, dims[1], coords[1] + 1) - x0;
    cx = 0.4 * ax / (ax + ay); // cx + cy = 0.4; stable up to 0.5
    cy = 0.4 * ay / (ax + ay);
    MPI_Type_vector(h, 1, w + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    init();
  }
  block(block&&) = delete;
  ~block() {
    MPI_Type_free(&column);
    MPI_Comm_free(&comm);
  }

  // The initial values and the walls of both fields, from the position in the whole grid only.
  void init() {
    residual = 0;
    u.assign((w + 2ul) * (h + 2ul), 0);
    for (int y = 0; y < h + 2; y++) {
      for (int x = 0; x < w + 2; x++) {
        const double px = static_cast<double>(x0 + x) / (nx + 1), py = static_cast<double>(y0 + y) / (ny + 1);
        if (x0 + x == 0) *at(y, x) = 4 * py * (1 - py);
        else if (px > 0.35 && px < 0.65 && py > 0.35 && py < 0.65) *at(y, x) = 1;
      }
    }
    next = u;
  }

  void step() {
    exchange_halo();
    residual = 0;
    for (int y = 1; y <= h; y++) {
      const double *n = at(y - 1, 0), *c = at(y, 0), *s = at(y + 1, 0);
      double* to = next.data() + (c - u.data());
      for (int x = 1; x <= w; x++) {
        const double d = cx * (c[x - 1] - 2 * c[x] + c[x + 1]) + cy * (n[x] - 2 * c[x] + s[x]);
        to[x] = c[x] + d;
        residual = std::max(residual, std::abs(d));
      }
    }
    std::swap(u, next);
  }

  double global_residual() const {
    double all = 0;
    MPI_Allreduce(&residual, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all;
  }

  // The CRC32 of the field, by rows of the whole grid, on rank 0 (elsewhere 0).
  std::uint64_t global_crc() {
    std::uint64_t crc = 0;
    if (rank != 0) {
      for (int y = 1; y <= h; y++) MPI_Send(at(y, 1), w, MPI_DOUBLE, 0, 1, comm);
      return 0;
    }
    std::vector<double> line(static_cast<std::size_t>(nx));
    for (int row = 0; row < dims[0]; row++) {
      for (int y = part_start(ny, dims[0], row); y < part_start(ny, dims[0], row + 1); y++) {
        for (int col = 0, owner = 0; col < dims[1]; col++) {
          const int x = part_start(nx, dims[1], col), n = part_start(nx, dims[1], col + 1) - x;
          const std::array<int, 2> c{row, col};
          MPI_Cart_rank(comm, c.data(), &owner);
          if (owner == 0) std::copy_n(at(y - y0 + 1, 1), n, &line[static_cast<std::size_t>(x)]);
          else MPI_Recv(&line[static_cast<std::size_t>(x)], n, MPI_DOUBLE, owner, 1, comm, MPI_STATUS_IGNORE);
        }
        crc = crc_of(crc, line.data(), line.size() * sizeof line[0]);
      }
    }
    return crc;
  }

  std::string file_name(const std::string& checkpoint) const {
    return checkpoint + "/rank_" + std::to_string(rank) + ".heat";
  }

  // Write the block at STEP.  What fails is an exception, also when the file is closed.
  void save(const std::filesystem::path& file, int step, bool kill_here) {
    const header e = make_header(static_cast<std::uint64_t>(step), residual, data_crc());
    std::ofstream f;
    f.exceptions(std::ios::failbit | std::ios::badbit);
    f.open(file, std::ios::binary);
    f.write(reinterpret_cast<const char*>(&e), sizeof e);
    for (int y = 1; y <= h; y++) {
      if (kill_here && y == h / 2 + 1) crash(f, step);
      f.write(reinterpret_cast<const char*>(at(y, 1)), static_cast<std::streamsize>(row_bytes()));
    }
    f.close();
  }

  // Read the block, and return its step.  A file that belongs to another grid or rank, or is damaged, is an exception.
  int load(const std::filesystem::path& file) {
    header e{};
    std::ifstream f(file, std::ios::binary);
    f.read(reinterpret_cast<char*>(&e), sizeof e);
    if (!f || e.magic != heat_magic) throw std::runtime_error("it is not a heat2d checkpoint");
    if (e.head_crc != make_header(e.step, e.residual, e.data_crc).head_crc)
      throw std::runtime_error("it belongs to another grid or rank, or its header is damaged");
    init();
    for (int y = 1; y <= h; y++) f.read(reinterpret_cast<char*>(at(y, 1)), static_cast<std::streamsize>(row_bytes()));
    if (!f || f.peek() != std::ifstream::traits_type::eof()) throw std::runtime_error("it has the wrong length");
    if (data_crc() != e.data_crc) throw std::runtime_error("it is damaged");
    residual = e.residual;
    return static_cast<int>(e.step);
  }

  // --kill-at: kill every rank when half of each file is written.
  [[noreturn]] void crash(std::ofstream& f, int step) const {
    f.flush();
    MPI_Barrier(comm);
    if (rank == 0)
      std::printf("heat2d: step %d: half of each checkpoint file is written; SIGKILL to every rank\n", step);
    MPI_Barrier(comm);
    std::raise(SIGKILL);
    std::abort();
  }

  int nx, ny, rank = 0, ranks = 0;
  std::array<int, 2> dims{}; // ranks down and across

private:
  double* at(int y, int x) { return u.data() + y * (w + 2l) + x; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(w) * sizeof(double); }

  std::uint64_t data_crc() {
    std::uint64_t crc = 0;
    for (int y = 1; y <= h; y++) crc = crc_of(crc, at(y, 1), row_bytes());
    return crc;
  }

  header make_header(std::uint64_t step, double change, std::uint64_t crc) const {
    const auto n = [](int i) { return static_cast<std::uint64_t>(i); };
    header e{heat_magic, step, n(nx), n(ny), n(ranks), n(x0), n(y0), n(w), n(h), change, crc, 0};
    e.head_crc = crc_of(0, &e, sizeof e - sizeof e.head_crc);
    return e;
  }

  // Receive the points around the block from the neighbours, and send them those at its border.
  void exchange_halo() {
    std::array<MPI_Request, 8> r;
    MPI_Irecv(at(0, 1), w, MPI_DOUBLE, up, 0, comm, &r[0]);
    MPI_Irecv(at(h + 1, 1), w, MPI_DOUBLE, down, 0, comm, &r[1]);
    MPI_Irecv(at(1, 0), 1, column, left, 0, comm, &r[2]);
    MPI_Irecv(at(1, w + 1), 1, column, right, 0, comm, &r[3]);
    MPI_Isend(at(1, 1), w, MPI_DOUBLE, up, 0, comm, &r[4]);
    MPI_Isend(at(h, 1), w, MPI_DOUBLE, down, 0, comm, &r[5]);
    MPI_Isend(at(1, 1), 1, column, left, 0, comm, &r[6]);
    MPI_Isend(at(1, w), 1, column, right, 0, comm, &r[7]);
    for (int done = 0; !done; sched_yield()) MPI_Testall(8, r.data(), &done, MPI_STATUSES_IGNORE);
  }

  MPI_Comm comm = MPI_COMM_NULL;             // the grid of ranks; rank numbers are those of MPI_COMM_WORLD
  std::array<int, 2> coords{};               // of this rank in it
  int up = 0, down = 0, left = 0, right = 0; // neighbours, or MPI_PROC_NULL at a wall
  int x0 = 0, y0 = 0, w = 0, h = 0;          // the first point and the size of the block
  double cx = 0, cy = 0;                     // dt/dx^2, dt/dy^2
  double residual = 0;                       // largest change of a point of this block in the last step
  std::vector<double> u, next;
  MPI_Datatype column = MPI_DATATYPE_NULL;
};

// Save STEP.  After a failure the run goes on, because the older checkpoint is still there.
void checkpoint(block& b, int step, bool kill_here) try {
  const double start = MPI_Wtime();
  const std::string name = "heat." + std::to_string(step);
  scr::output ckpt(name);
  b.save(ckpt.route(b.file_name(name)), step, kill_here);
  ckpt.complete();
  if (b.rank == 0) std::printf("heat2d: checkpoint %s in %.3f s\n", name.c_str(), MPI_Wtime() - start);
} catch (const std::exception& why) {
  std::fprintf(stderr, "heat2d: rank %d: %s; going on\n", b.rank, why.what());
}

void solve(block& b, options& o) {
  const double start = MPI_Wtime();
  scr::session run;
  if (b.rank == 0)
    std::printf("heat2d: %d x %d points on %d x %d ranks, SCR_Init took %.3f s\n", b.nx, b.ny, b.dims[1], b.dims[0],
                MPI_Wtime() - start);
  int step = 0;
  const auto from = run.resume(
      [&](const scr::restart& ckpt, const std::string& name) { step = b.load(ckpt.route(b.file_name(name))); });
  if (!from) step = 0, b.init(); // one that is rejected may have been read on this rank
  else if (b.rank == 0) std::printf("heat2d: restarted from %s, at step %d\n", from->c_str(), step);

  bool stop = run.should_exit(); // asked before the first checkpoint, so that the library leaves the exit to us
  while (step < o["--steps"] && !stop) {
    b.step();
    step++;
    const bool kill_here = step == o["--kill-at"];
    if (!kill_here && (o["--interval"] == 0 || step % o["--interval"] != 0)) continue;
    if (run.need_checkpoint() || kill_here) checkpoint(b, step, kill_here);
    stop = run.should_exit();
  }
  const double residual = b.global_residual();
  const std::uint64_t crc = b.global_crc();
  if (b.rank == 0) {
    if (step < o["--steps"]) std::printf("heat2d: asked to stop before step %d\n", o["--steps"]);
    std::printf("heat2d: step %d residual %.9e crc32 0x%08lx time %.2f s\n", step, residual,
                static_cast<unsigned long>(crc), MPI_Wtime() - start);
  }
  run.finalize();
}

// Returns the argument that is not an option or has no possible value, if there is one.
std::optional<std::string> read_options(const std::vector<std::string>& arguments, options& o) {
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto option = o.find(arguments[i]);
    if (option == o.end() || i + 1 == arguments.size()) return arguments[i];
    const std::string& text = arguments[i + 1];
    const int lowest = option->first == "--steps" || option->first == "--interval" ? 0 : 1;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), option->second);
    if (code != std::errc() || *end != '\0' || option->second < lowest) return text;
  }
  return std::nullopt;
}

} // namespace

int main(int argc, char** argv) {
  options o = {{"--nx", 512}, {"--ny", 512}, {"--steps", 1000}, {"--interval", 100}, {"--kill-at", -1}};
  int rank = 0, code = 1;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // so that the output of a killed run is not lost
  if (const auto bad = read_options({argv + 1, argv + argc}, o)) {
    if (rank == 0) std::cerr << "heat2d: unknown option, or bad value for it: " << *bad << '\n';
    code = 2;
  } else try {
      block b(o["--nx"], o["--ny"]);
      solve(b, o);
      code = 0;
    } catch (const std::exception& why) { // of the library: the same on all ranks, which end together
      if (rank == 0) std::cerr << "heat2d: " << why.what() << "; giving up\n";
    }
  MPI_Finalize();
  return code;
}
