// cases.cc - what scr.hpp promises.  cxx.sh runs its parts, each on what the part before has left.
#include <mpi.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>
#include "scr.hpp"

static_assert(std::is_nothrow_destructible_v<scr::session> && std::is_nothrow_destructible_v<scr::output> &&
              std::is_nothrow_destructible_v<scr::restart>);
static_assert(!std::is_copy_constructible_v<scr::session> && !std::is_copy_assignable_v<scr::session>);
static_assert(!std::is_copy_constructible_v<scr::output> && !std::is_copy_assignable_v<scr::output>);
static_assert(!std::is_move_constructible_v<scr::restart> && !std::is_move_assignable_v<scr::restart>);
static_assert(std::is_base_of_v<std::runtime_error, scr::error>);

namespace {

int rank, ranks, faults;

void check(bool right, const char* what, int line) {
  if (right) return;
  std::printf("FAULT rank %d, line %d: %s\n", rank, line, what);
  faults++;
}
#define CHECK(right) check(right, #right, __LINE__)

// Whether CALL throws scr::error with CODE, and with a message that says more than the text of the code.
bool fails(int code, const std::function<void()>& call, const std::string& word = "") {
  try {
    call();
  } catch (const scr::error& why) {
    const std::string text = why.what();
    if (why.code() == code && !text.empty() && text != SCR_Strerror(code) && text.find(word) != text.npos) return true;
    std::printf("rank %d: code %d, %s\n", rank, why.code(), why.what());
  } catch (const std::exception& why) {
    std::printf("rank %d: another exception: %s\n", rank, why.what());
  }
  return false;
}

std::string file_name(const std::string& name) { return name + "/rank_" + std::to_string(rank); }

// A dataset with one file of each rank; FAULTY throws after it has routed its file.
void write_files(const std::string& name, int number, int faulty = -1) {
  scr::output to(name);
  std::ofstream f(to.route(file_name(name)));
  f << number << '\n';
  f.close();
  if (rank == faulty) throw std::out_of_range("thrown by the program");
  to.complete();
}

int read_file(const scr::restart& from, const std::string& name) {
  int number = -1;
  std::ifstream f(from.route(file_name(name)));
  if (!(f >> number)) throw std::runtime_error("no number");
  return number;
}

// ---- datasets, exceptions, errors ----

void before_a_session() {
  scr::config("SCR_SET_SIZE", "4");
  CHECK(scr::config("SCR_SET_SIZE") == "4");
  CHECK(!scr::config("SCR_NO_SUCH_PARAMETER"));
  CHECK(fails(
      SCR_ERR_STATE, [] { scr::output to("early"); }, "SCR_Init"));
  CHECK(fails(SCR_ERR_STATE, [] { scr::restart from; }));
}

void files() {
  before_a_session();
  scr::session run(MPI_COMM_WORLD);
  CHECK(run.need_checkpoint() && !run.should_exit());
  CHECK(!run.have_restart() && !run.recover());
  CHECK(fails(SCR_ERR_STATE, [] { scr::session second; }));
  CHECK(fails(
      SCR_ERR_ARG, [] { scr::config("SCR_SET_SIZE", "8"); }, "after SCR_Init"));
  write_files("f1", 1);
  write_files("f2", 2);

  // one rank leaves the scope by an exception: the others have one too, and f2 is the newest
  bool thrown = false;
  try {
    write_files("f3", 3, 1);
  } catch (const std::out_of_range&) {
    thrown = rank == 1;
  } catch (const scr::error& why) {
    thrown = rank != 1 && why.code() == SCR_ERR_INVALID;
  }
  CHECK(thrown);
  { scr::output left("f4"); }       // nor is what is not completed
  CHECK(fails(SCR_ERR_MISSING, [] { // routed, but not written
    scr::output to("f5");
    to.route(file_name("f5"));
    to.complete();
  }));
  CHECK(fails(SCR_ERR_INVALID, [] { scr::output("f6").complete(rank != 2); }));
  CHECK(fails(SCR_ERR_INVALID, [] { // completed twice: that is not for the second one
    scr::output first("f7", SCR_FLAG_OUTPUT);
    first.complete();
    scr::output second("f8");
    CHECK(fails(
        SCR_ERR_STATE, [&] { first.complete(); }, "before"));
    second.complete(false);
  }));
  run.erase("f7");

  // wrong arguments
  CHECK(fails(SCR_ERR_ARG, [] { scr::output to("bad", 64); }));
  CHECK(fails(SCR_ERR_DIFFER, [] { scr::output to("bad" + std::to_string(rank)); }));
  CHECK(fails(SCR_ERR_STATE, [] { scr::restart from; }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.current(""); }));
  CHECK(fails(
      SCR_ERR_NOT_FOUND, [&] { run.current("nothing"); }, "nothing"));
  CHECK(fails(
      SCR_ERR_NOT_FOUND, [&] { run.erase("nothing"); }, "nothing"));
  CHECK(fails(
      SCR_ERR_NOT_FOUND, [&] { run.drop("nothing"); }, "nothing"));
  CHECK(fails(
      SCR_ERR_NOT_FOUND, [&] { run.wait("nothing"); }, "nothing"));
  CHECK(fails(SCR_ERR_PATH, [&] { run.track("/etc/passwd"); }));
  CHECK(fails(SCR_ERR_PATH, [] {
    scr::output to("bad");
    to.route("/etc/passwd");
  }));
  run.wait();
  run.finalize();
  CHECK(fails(SCR_ERR_STATE, [&] { run.finalize(); }));
}

// f2 cannot be read on some ranks; all take f1.  Then a run ends by an exception.
void rejected() {
  scr::session run;
  CHECK(run.have_restart() == "f2");
  int number = 0, tries = 0;
  const auto name = run.resume([&](const scr::restart& from, const std::string& which) {
    number = read_file(from, which);
    CHECK(from.ranks() == ranks);
    if (tries++ > 0) return;
    if (rank == 2) throw std::runtime_error("thrown by the reader");
    if (rank == 1) throw 1;
  });
  CHECK(name == "f1" && number == 1 && tries == 2);
  write_files("f9", 9);
  throw std::runtime_error("the run ends by an exception");
}

// It left f9, and the next one does not throw: its destructor ends the run.
void newest() {
  scr::session run;
  int number = 0;
  CHECK(run.resume([&](const scr::restart& from, const std::string& which) { number = read_file(from, which); }) ==
            "f9" &&
        number == 9);
}

// ---- regions ----

struct particle {
  double x[3];
  int id;
};

constexpr std::size_t rows = 12, columns = 10;

double element(std::size_t y, std::size_t x, int version) {
  return static_cast<double>(version * 1000 + static_cast<int>(y * columns + x));
}

// All that a rank protects.  The array is cut by rows, each with one more on each side.
struct state {
  std::size_t from = rows * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  std::size_t to = rows * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(ranks);
  int step = 0;
  std::array<long, 3> numbers{};
  double plain[4] = {};
  std::vector<particle> particles;
  std::vector<char> empty;
  std::vector<double> u, next;
  state() : u((to - from + 2) * (columns + 2), -1), next(u) {}

  scr::block<2> part() const {
    return {{rows, columns}, {from, 0}, {to - from, columns}, {to - from + 2, columns + 2}, {1, 1}};
  }
  void protect(scr::session& run) {
    run.protect("step", step);
    run.protect_array("u", u, part());
    if (ranks == 3) return; // what differs between the ranks is for as many as wrote it
    run.protect("numbers", numbers);
    run.protect("plain", plain, 4);
    run.protect("particles", particles);
    run.protect("empty", empty);
  }
  std::size_t many(int version) const { return static_cast<std::size_t>(1000 * version + 100 * rank); }
  double& at(std::vector<double>& v, std::size_t y, std::size_t x) { return v[(y - from + 1) * (columns + 2) + x + 1]; }

  // The vectors move: one grows, one shrinks to nothing, and two are swapped.
  void set(int version) {
    step = version;
    numbers = {version, rank, 7};
    plain[3] = version + rank;
    particles.clear();
    particles.shrink_to_fit();
    for (std::size_t i = 0; i < many(version); i++)
      particles.push_back({{1. * version, 1. * rank, 0}, static_cast<int>(i)});
    std::vector<char>(version % 2 == 0 ? 0u : 5000u, 'x').swap(empty);
    for (std::size_t y = from; y < to; y++)
      for (std::size_t x = 0; x < columns; x++) at(next, y, x) = element(y, x, version);
    std::swap(u, next);
    std::fill(next.begin(), next.end(), -2);
  }
  bool array_is(int version) {
    for (std::size_t y = from; y < to; y++)
      for (std::size_t x = 0; x < columns; x++)
        if (at(u, y, x) != element(y, x, version)) return false;
    return u[0] == -1 && u.back() == -1; // what surrounds the block
  }
  bool is(int version) {
    bool right = step == version && numbers == std::array<long, 3>{version, rank, 7} && plain[3] == version + rank;
    right = right && particles.size() == many(version) && empty.size() == (version % 2 == 0 ? 0u : 5000u);
    for (std::size_t i = 0; right && i < particles.size(); i++)
      right = particles[i].id == static_cast<int>(i) && particles[i].x[0] == version && particles[i].x[1] == rank;
    return right && array_is(version);
  }
};

void regions() {
  scr::session run;
  state s;
  s.protect(run);
  CHECK(!run.recover() && s.step == 0);
  for (int version = 1; version <= 4; version++) {
    s.set(version);
    run.checkpoint("v" + std::to_string(version));
  }
  // wrong arguments; the regions are as before
  std::vector<double> small(3);
  double* const nothing = nullptr;
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect("", s.step); }));
  CHECK(fails(
      SCR_ERR_ARG, [&] { run.protect(std::string("u\0v", 3), s.step); }, "a NUL"));
  CHECK(fails(
      SCR_ERR_ARG, [&] { run.protect_array(std::string("u\0v", 3), small, s.part()); }, "a NUL"));
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect(std::string(300, 'n'), small); }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect("nothing", nothing, 3); }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect_array("u", small, s.part()); }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect_array("a", small, scr::block<1>{{9}, {7}, {3}}); }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.protect_array("a", small.data(), scr::block<1>{{9}, {0}, {3}, {3}, {1}}); }));
  CHECK(fails(SCR_ERR_ARG, [&] { run.unprotect("a"); }));
  CHECK(fails(SCR_ERR_STATE, [&] { run.put_regions(); }));
  CHECK(fails(SCR_ERR_STATE, [&] { run.get_regions(); }));

  // on one rank the vector of an array is too small when a checkpoint is written: no rank has that checkpoint
  std::vector<double> whole;
  if (rank == 1) s.u.swap(whole);
  bool thrown = false;
  try {
    run.checkpoint("v5");
  } catch (const scr::error&) {
    thrown = true;
  }
  CHECK(thrown);
  if (rank == 1) s.u.swap(whole);

  s.set(6); // beside files, without a name of its own, and not completed
  scr::output to;
  run.put_regions();
}

// The newest one is VERSION.
void recovered(int version) {
  scr::session run;
  state s;
  s.protect(run);
  CHECK(run.recover() == "v" + std::to_string(version) && s.is(version));
  s.set(version + 1); // again, beside files of the program
  {
    scr::output to("w");
    run.put_regions();
    std::ofstream f(to.route(file_name("w")));
    f << version;
    f.close();
    to.complete();
  }
  run.finalize();
  scr::session again;
  state t;
  t.protect(again);
  int number = 0;
  CHECK(again.resume([&](const scr::restart& from, const std::string& which) {
    again.get_regions();
    number = read_file(from, which);
  }) == "w");
  CHECK(number == version && t.is(version + 1));
  again.erase("w");
}

// Checkpoints of one name, each with a vector of another size.  When they are read, the newest is damaged.
void alike(bool write) {
  scr::session run;
  std::vector<int> v;
  run.protect("v", v);
  for (std::size_t size = 1000; write && size <= 3000; size += 1000) {
    v.assign(size, static_cast<int>(size));
    run.checkpoint("same");
  }
  if (!write) CHECK(run.recover() == "same" && v == std::vector<int>(2000, 2000));
}

// What lends its elements, as a std::span, is a region of these.
struct view {
  double* first;
  std::size_t n;
  double* data() const { return first; }
  std::size_t size() const { return n; }
};

// What has its elements itself is a region of all that it has.
struct holder {
  std::size_t n = 0;
  int step = 0, element[4] = {};
  int* data() { return element; }
  std::size_t size() const { return n; }
};

// On one rank a vector has become too small when it is read: all ranks have an exception, and go on together.
void shrunk() {
  std::vector<double> u(10, 1.0), lent(5, 2.0);
  view v{lent.data(), lent.size()};
  holder h;
  const std::size_t n = static_cast<std::size_t>(ranks), r = static_cast<std::size_t>(rank);
  const scr::block<1> part{{10 * n}, {10 * r}, {10}};
  {
    scr::session run;
    run.protect_array("u", u, part);
    run.protect("v", v);
    run.protect("h", h);
    h = {2, 7, {1, 2, 3, 4}};
    if (rank == 1) u.resize(3);
    CHECK(!run.recover()); // there is nothing to read yet: no rank has one, rather than one rank alone
    u.resize(10, 1.0);
    run.checkpoint("c");
    h = {};
  }
  scr::session run;
  run.protect_array("u", u, part);
  run.protect("v", v);
  run.protect("h", h);
  if (rank == 1) u.resize(3);
  CHECK(fails(SCR_ERR_DIFFER, [&] { run.recover(); }));
  u.assign(10, 0.0);
  lent.assign(5, 0.0);
  CHECK(run.recover() == "c" && u == std::vector<double>(10, 1.0) && lent == std::vector<double>(5, 2.0));
  CHECK(h.n == 2 && h.step == 7 && h.element[3] == 4);
}

// What cannot be filled is an exception on all ranks, and names the region; the next call may be right.
void wanting() {
  scr::session run;
  state s;
  s.protect(run);
  std::vector<int> other;
  double few[3] = {};
  run.protect("other", other);
  CHECK(fails(
      SCR_ERR_MISSING, [&] { run.recover(); }, "other"));
  run.unprotect("other");
  run.protect("plain", few);
  CHECK(fails(
      SCR_ERR_MISSING, [&] { run.recover(); }, "plain"));
  run.protect("plain", s.plain);
  std::vector<std::array<char, 7>> odd; // no number of them has as many bytes
  if (rank == 0) run.protect("particles", odd);
  CHECK(fails(
      SCR_ERR_MISSING, [&] { run.recover(); }, "particles"));
  if (rank == 0) run.protect("particles", s.particles);
  CHECK(run.recover() == "v4" && s.is(4));
}

void fewer() {
  scr::session run;
  state s;
  s.protect(run);
  CHECK(run.recover() == "v4" && s.step == 4 && s.array_is(4));
}

void disabled() {
  scr::session run;
  state s;
  s.protect(run);
  CHECK(!run.recover() && !run.have_restart() && run.need_checkpoint());
  run.checkpoint();
  run.finalize();
}

} // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  int all = 0;

  CHECK(fails(
      SCR_ERR_STATE, [] { scr::session early; }, "MPI_Init"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    if (part == "files") files();
    else if (part == "rejected") rejected();
    else if (part == "newest") newest();
    else if (part == "regions") regions();
    else if (part == "recovered") recovered(4);
    else if (part == "damaged") recovered(3);
    else if (part == "wanting") wanting();
    else if (part == "shrunk") shrunk();
    else if (part == "alike" || part == "alike_again") alike(part == "alike");
    else if (part == "fewer") fewer();
    else if (part == "disabled") disabled();
    else throw std::invalid_argument(part);
    CHECK(part != "rejected");
  } catch (const std::exception& why) {
    if (part != "rejected" || std::string(why.what()) != "the run ends by an exception") {
      std::printf("FAULT rank %d: %s\n", rank, why.what());
      faults++;
    }
  }
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) std::printf("%s: all is right\n", part.c_str());
  MPI_Finalize();
  return all != 0;
}
