// scr.hpp - the calls of scr.h for C++17: what a scope begins ends with it, and errors are exceptions.
//
// A function does what the call of its name in scr.h does, and is collective where that is.  A collective call throws
// scr::error with the same code on all ranks, or on none; SCR_ENABLE=0 is no error.  If an exception takes one rank out
// of the scope of an output or restart, that is invalid: complete() throws SCR_ERR_INVALID on the others, so that all
// ranks leave the scope and go on together.  So no other collective call follows in it what can throw on one rank.
// What is protected has to exist whenever regions are written or read.  Programs: heat2d.cc, tools/manual/languages.md.
#ifndef SCR_HPP
#define SCR_HPP

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include "scr.h"

namespace scr {
// A call has failed: code() is one of SCR_ERRORS, what() the library's message.
class error : public std::runtime_error {
  int code_;
public:
  explicit error(int code) : error(code, SCR_Last_error()) {}
  error(int code, const std::string& text) : runtime_error(text.empty() ? SCR_Strerror(code) : text), code_(code) {}
  int code() const noexcept { return code_; }
};

inline void check(int code) {
  if (code != SCR_SUCCESS && code != SCR_ERR_DISABLED) throw error(code);
}

// The value of "KEY", if it has one; or set "KEY=VALUE ...", before there is a session.  Errors: SCR_ERR_ARG.
inline std::optional<std::string> config(const std::string& text) {
  const std::unique_ptr<char, void (*)(void*)> value(const_cast<char*>(SCR_Config(text.c_str())), std::free);
  if (!value && *SCR_Last_error() != '\0') throw error(SCR_ERR_ARG);
  return value ? std::optional<std::string>(value.get()) : std::nullopt;
}
inline void config(const std::string& key, const std::string& value) { config(key + "=" + value); }

template <class... To> int ask(int (*question)(int*, To...), To... to) {
  int answer = 0;
  check(question(&answer, to...));
  return answer;
}

// What output and restart share: open from the constructor to complete(), or else to the end of the scope.
class dataset {
  int (*const end_)(int);
  bool open_ = true;
protected:
  friend class session;
  dataset(int started, int (*completing)(int)) : end_(completing) { check(started); }
  ~dataset() { end(false); }
  int end(bool valid) noexcept { return std::exchange(open_, false) ? end_(valid) : SCR_SUCCESS; }
public:
  dataset(dataset&&) = delete;
  std::filesystem::path route(const std::filesystem::path& name) const {
    char file[SCR_MAX_FILENAME];
    check(SCR_Route_file(name.c_str(), file));
    return file;
  }
  void complete(bool valid = true) {
    if (!open_) throw error(SCR_ERR_STATE, "the dataset has been completed before");
    check(end(valid));
  }
};

// A dataset that is written.  Without complete() it is deleted, and older ones are unchanged.
struct [[nodiscard]] output : dataset {
  explicit output(const std::optional<std::string>& name = std::nullopt, int flags = SCR_FLAG_CHECKPOINT)
      : dataset(SCR_Start_output(name ? name->c_str() : nullptr, flags), SCR_Complete_output) {}
};

// The loaded checkpoint, while it is read.  Without complete() it is rejected, and an older one is offered.
struct [[nodiscard]] restart : dataset {
  restart() : dataset(SCR_Start_restart(nullptr), SCR_Complete_restart) {}
  int ranks() const { return ask(SCR_Restart_ranks); } // that wrote it
};

// This rank's block of an array: EXTENT elements from OFFSET on, of GLOBAL in each dimension.  It may lie within a
// larger piece of MEMORY, as inside the points of neighbours, and begins there at the element FIRST.
template <std::size_t N> struct block {
  std::array<std::size_t, N> global, offset, extent, memory = extent, first = {};
};

// A run, from SCR_Init to SCR_Finalize; one at a time.
class [[nodiscard]] session {
public:
  session() { check(SCR_Init()); }
  explicit session(MPI_Comm comm) { check(SCR_Init_comm(comm)); }
  session(session&&) = delete;
  // A run that an exception ends is left to MPI_Finalize, which saves, too, but does not tell scr_run that it is done.
  ~session() {
    if (running_ && std::uncaught_exceptions() <= exceptions_) SCR_Finalize();
  }
  void finalize() { // only this tells whether the newest checkpoint is on the prefix
    running_ = false;
    check(SCR_Finalize());
  }
  bool need_checkpoint() { return ask(SCR_Need_checkpoint) != 0; }
  bool should_exit() { return ask(SCR_Should_exit) != 0; }
  void current(const std::string& name) { check(SCR_Current(name.c_str())); }
  void drop(const std::string& name) { check(SCR_Drop(name.c_str())); }
  void erase(const std::string& name) { check(SCR_Delete(name.c_str())); }
  void wait(const std::optional<std::string>& name = {}) { check(SCR_Wait(name ? name->c_str() : nullptr)); }
  void track(const std::filesystem::path& file) { check(SCR_Track(file.c_str())); }
  std::optional<std::string> have_restart() { return named(SCR_Have_restart); }
  // Restart from the newest checkpoint that READ(const scr::restart&, const std::string& name) can read on every rank;
  // return its name.  READ throws where it cannot.  As it may be called for an older one then, it sets all data anew.
  template <class Read> std::optional<std::string> resume(Read&& read) {
    while (auto name = have_restart()) {
      restart from;
      bool valid = false;
      try {
        read(std::as_const(from), std::as_const(*name));
        valid = true;
      } catch (const std::exception& why) { // the ranks stay together: all complete the restart
        std::fprintf(stderr, "%s cannot be used: %s\n", name->c_str(), why.what());
      } catch (...) {
      }
      if (const int code = from.end(valid); code != SCR_ERR_INVALID) return check(code), name;
    }
    return std::nullopt;
  }
  // Name a region: an object, COUNT elements at DATA, those of a std::span, or a vector.  Whenever regions are written,
  // the library is told where the elements of a vector are; before they are read, it gets its size in the checkpoint.
  template <class T> void protect(const std::string& name, T& object) {
    if constexpr (std::is_trivially_copyable_v<T> && std::is_pointer_v<decltype(lent(object, 0))>)
      if (void* at = lent(object, 0); at < &object || at >= &object + 1)
        return protect(name, object.data(), object.size());
    protect(name, &object, 1);
  }
  template <class T> void protect(const std::string& name, T* data, std::size_t count) {
    check(SCR_Protect(whole(name).c_str(), data, count, size<T>()));
    vectors_.erase(name);
  }
  template <class T, class A> void protect(const std::string& name, std::vector<T, A>& data) {
    follow(name, [name, &data](bool reading) {
      std::size_t bytes = 0;
      try {
        if (reading && SCR_Region_size(name.c_str(), &bytes) == SCR_SUCCESS) data.resize(bytes / sizeof(T));
      } catch (const std::exception&) { // a wrong size is an error on all ranks
      }
      return SCR_Protect(name.c_str(), data.data(), data.size(), size<T>());
    });
  }
  // Name a block of an array.  A vector is followed as above, but keeps its size, which is that of the memory.
  template <class T, std::size_t N> void protect_array(const std::string& name, T* data, const block<N>& b) {
    check(protect_block(name, data, b));
    vectors_.erase(name);
  }
  template <class T, class A, std::size_t N>
  void protect_array(const std::string& name, std::vector<T, A>& data, const block<N>& b) {
    follow(name, [name, &data, b](bool) { return protect_block(name, data.data(), b, data.size()); });
  }
  void unprotect(const std::string& name) {
    vectors_.erase(name);
    check(SCR_Unprotect(name.c_str()));
  }
  void checkpoint(const std::optional<std::string>& name = std::nullopt) {
    output to(name);
    put_regions();
    to.complete();
  }
  // Fill all regions from the newest checkpoint that has regions, and return its name.
  std::optional<std::string> recover() {
    for (auto [loaded, again] = std::pair(have_restart(), false);;) {
      try {
        const int mine = describe(loaded.has_value());
        auto name = named(SCR_Recover); // with nothing to read, it is the next checkpoint that fails on all ranks
        return check(name ? mine : SCR_SUCCESS), name;
      } catch (const error& why) { // if the newest was damaged, this one has other sizes, and maybe the same name
        auto next = why.code() == SCR_ERR_MISSING ? have_restart() : std::nullopt;
        if (!next || (next == loaded && again)) throw;
        again = std::exchange(loaded, next) == next;
      }
    }
  }
  // The same beside files of the program's own, at the beginning of the scope of an output or restart.
  void put_regions() { move_regions(false, SCR_Put_regions); }
  void get_regions() { move_regions(true, SCR_Get_regions); }
private:
  template <class T> static auto lent(T& by, int) -> decltype(void(by.size()), by.data()) { return by.data(); }
  template <class T> static void lent(T&, ...) {}
  static const std::string& whole(const std::string& name) { // for C it would end before
    return name.find('\0') == std::string::npos ? name : throw error(SCR_ERR_ARG, "a NUL in the name of a region");
  }
  template <class T, class E = std::remove_all_extents_t<T>> static constexpr std::size_t size() {
    static_assert(std::is_trivially_copyable_v<E> && !std::is_const_v<E> && !std::is_pointer_v<E>,
                  "a region has trivially copyable elements, which can be changed, and are no addresses");
    return sizeof(T);
  }
  static std::optional<std::string> named(int (*question)(int*, char*)) {
    char name[SCR_MAX_FILENAME];
    return ask<char*>(question, name) != 0 ? std::optional<std::string>(name) : std::nullopt;
  }
  // Describe a block.  Where it does not lie within its memory, it has no data, which is an error.
  template <class T, std::size_t N> static int protect_block(const std::string& name, T* data, const block<N>& b,
                                                             std::size_t elements = std::size_t(-1)) {
    std::array<std::size_t, N> stride;
    std::size_t all = 1, first = 0;
    for (std::size_t d = N; d-- > 0; all *= b.memory[d]) {
      stride[d] = all;
      first += b.first[d] * all;
      if (b.first[d] > b.memory[d] || b.extent[d] > b.memory[d] - b.first[d]) data = nullptr;
    }
    const bool inside = data != nullptr && all <= elements;
    return SCR_Protect_array_strided(whole(name).c_str(), inside ? data + first : nullptr, size<T>(), int{N},
                                     b.global.data(), b.offset.data(), b.extent.data(), stride.data());
  }
  void follow(const std::string& name, std::function<int(bool)> vector) {
    auto& kept = vectors_[whole(name)];
    check(vector(false));
    kept = std::move(vector);
  }
  // Describe all vectors.  One for which that fails is not written until it succeeds, as its elements may be elsewhere,
  // and is read with a wrong size, which is an error on all ranks.
  int describe(bool reading) {
    static char wrong[2];
    int failure = SCR_SUCCESS;
    for (const auto& [name, vector] : vectors_)
      if (const int code = vector ? vector(reading) : SCR_SUCCESS; code != SCR_SUCCESS) {
        failure = code;
        if (std::size_t bytes = 0; !reading) SCR_Unprotect(name.c_str());
        else SCR_Region_size(name.c_str(), &bytes), SCR_Protect(name.c_str(), wrong, bytes == 1 ? 2 : 1, 1);
      }
    return failure;
  }
  void move_regions(bool reading, int (*move)()) {
    const int mine = describe(reading);
    check(move()); // on all ranks, whatever is the matter with this one
    check(mine);
  }
  bool running_ = true;
  int exceptions_ = std::uncaught_exceptions();
  std::map<std::string, std::function<int(bool reading)>> vectors_; // each tells the library where its vector is
};
} // namespace scr

#endif
