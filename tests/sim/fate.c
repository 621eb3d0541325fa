/* ==== FATE ======================================================================================================
** What a seed means: the draws, the machine, the parameters, and what happens to the nodes between two lifetimes.
**
** Offers     fate_draw, fate_one_in, fate_set, fate_clear, fate_run of sim.h; fate_made of fate.h
** Draws      A draw depends on seed, lifetime and name alone: a new one changes no other, and old seeds keep most of
**            their meaning.  0 is always the plain choice, so that a failing seed is shrunk by making draws 0.
** Between    Commands of a person, and scavenges, which bring to the prefix what the caches have.
** Lifetimes  In each of them but the last somebody may be killed.  Between them nodes are lost and replaced, come back,
**            lose power; in the last all nodes are new, and the prefix must do.  Others may remove files from there.
** ================================================================================================================= */
#include "fate.h"
#include "truth.h"

#define FATE_NODES 64

/* ---- draws ---- */

static struct {
  int      life; /* -1: all */
  char     name[48];
  unsigned value;
} overrides[FATE_OVERRIDES];
static int  noverrides;
int         fate_plain;
const char* fate_dump;

fate_record fate_made[FATE_RECORDS];
int         fate_nmade;

void fate_clear(void)
{
  noverrides = 0;
}

int fate_set(const char* text)
{
  const char* equal = strchr(text, '=');
  const char* name = text;
  char*       end;
  long        life = strtol(text, &end, 10);

  if (end == text || *end != '.') life = -1;
  else name = end + 1;
  if (equal == NULL || equal <= name || noverrides == FATE_OVERRIDES) return 0;
  if (equal - name >= (int)sizeof overrides->name) return 0;
  overrides[noverrides].life = (int)life;
  snprintf(overrides[noverrides].name, sizeof overrides->name, "%.*s", (int)(equal - name), name);
  overrides[noverrides++].value = (unsigned)strtoul(equal + 1, NULL, 0);
  return 1;
}

/* Remember that the draw NAME gave VALUE, if it is not the plain one. */
static void draw_note(const char* name, unsigned value)
{
  int i;

  if (value == 0 || fate_nmade == FATE_RECORDS) return;
  for (i = fate_nmade - 1; i >= 0 && fate_made[i].life == S.life; i--)
    if (strcmp(fate_made[i].name, name) == 0) return;
  fate_made[fate_nmade].life = S.life;
  fate_made[fate_nmade].value = value;
  snprintf(fate_made[fate_nmade++].name, sizeof fate_made->name, "%s", name);
}

unsigned fate_draw(const char* name, unsigned n)
{
  uint64_t    z = S.seed * 0x9e3779b97f4a7c15u + (uint64_t)S.life * 0xd1342543de82ef95u;
  const char* p;
  unsigned    value;
  int         i;

  for (p = name; *p != '\0'; p++) z = (z ^ (unsigned char)*p) * 0x100000001b3u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  value = n > 0 && !fate_plain ? (unsigned)((z ^ (z >> 31)) % n) : 0;
  for (i = noverrides - 1; i >= 0; i--)
    if ((overrides[i].life < 0 || overrides[i].life == S.life) && strcmp(overrides[i].name, name) == 0) {
      value = overrides[i].value;
      break;
    }
  draw_note(name, value);
  return value;
}

int fate_one_in(const char* name, unsigned n)
{
  return n > 1 && fate_draw(name, n) == n - 1;
}

/* ---- parameters ---- */

/*
** A parameter of the library and its values, the first of which is the plain one.  RARE 0: a third of the seeds or so
** have another value; 1: one seed in twelve or so; 2: one lifetime in 24.  CHANGES: one lifetime in eight draws it
** anew.
*/
typedef struct {
  const char* name;
  int         rare, changes;
  const char* value[6];
} parameter;

static const parameter parameters[] = {
    {"SCR_COPY_TYPE", 0, 1, {"XOR", "PARTNER", "RS", "XOR", "SINGLE"}},
    {"SCR_SET_FAILURES", 0, 0, {"2", "1", "3"}},
    {"SCR_SET_SIZE", 1, 1, {"8", "2", "3"}},
    {"SCR_CACHE_SIZE", 0, 1, {"2", "1", "3"}},
    {"SCR_CACHE_KEEP", 1, 1, {"1", "0"}},
    {"SCR_CACHE_BYPASS", 1, 1, {"auto", "1", "0"}},
    {"SCR_FLUSH", 0, 1, {"100", "1", "2", "3", "0"}},
    {"SCR_FLUSH_ASYNC", 0, 1, {"0", "1"}},
    {"SCR_FLUSH_TYPE", 0, 1, {"PTHREAD", "DAEMON"}},
    {"SCR_FLUSH_ASYNC_BW", 1, 1, {"0", "200000"}},
    {"SCR_FLUSH_ASYNC_PERCENT", 1, 1, {"0", "50"}},
    {"SCR_FLUSH_WIDTH", 1, 1, {"256", "1", "2"}},
    {"SCR_FETCH_WIDTH", 1, 1, {"256", "1", "2"}},
    {"SCR_FETCH_BYPASS", 1, 1, {"0", "1"}},
    {"SCR_FLUSH_ON_RESTART", 1, 1, {"0", "1"}},
    {"SCR_GLOBAL_RESTART", 1, 1, {"0", "1"}},
    {"SCR_RESTART_RANKS", 1, 1, {"any", "same"}},
    {"SCR_PREFIX_SIZE", 1, 1, {"0", "1", "2", "3"}},
    {"SCR_PRESERVE_DIRECTORIES", 1, 1, {"1", "0"}},
    {"SCR_USE_CONTAINERS", 1, 1, {"0", "1", "1"}},
    {"SCR_CONTAINER_SIZE", 0, 1, {"100G", "5000", "20000"}},
    {"SCR_RANK2FILE_SIZE", 1, 1, {"1M", "1K", "4K"}},
    {"SCR_CRC_ON_COPY", 1, 1, {"1", "0"}},
    {"SCR_CRC_ON_DELETE", 1, 1, {"0", "1"}},
    {"SCR_CRC_ON_RESTART", 1, 1, {"1", "0"}},
    {"SCR_CRC_ON_FLUSH", 1, 1, {"1", "0"}},
    {"SCR_FSYNC", 1, 0, {"1", "0"}},
    {"SCR_LOG_ENABLE", 1, 1, {"0", "1"}},
    {"SCR_DEBUG", 1, 1, {"0", "1", "2"}},
    {"SCR_DROP_AFTER_CURRENT", 1, 1, {"0", "1"}},
    {"SCR_CHECK_OPEN", 1, 1, {"1", "0"}},
    {"SCR_GROUP", 2, 1, {"NODE", "WORLD"}},
    {"SCR_DISTRIBUTE", 2, 1, {"1", "0"}},
    {"SCR_CACHE_PURGE", 2, 1, {"0", "1"}},
    {"SCR_CHECKPOINT_INTERVAL", 2, 1, {"0", "1", "3"}},
    {"SCR_CHECKPOINT_OVERHEAD", 2, 1, {"0", "5"}},
    {"SCR_CHECKPOINT_SECONDS", 2, 1, {"0", "1"}},
    {"SCR_CHECKPOINT_MTBF", 2, 1, {"0", "300", "log"}},
    {"SCR_HALT_ENABLED", 2, 1, {"1", "0"}},
    {"SCR_FETCH", 2, 1, {"1", "0"}},
    {"SCR_TRACK", 2, 1, {"1", "0"}},
    {"SCR_PREFIX_PURGE", 2, 1, {"0", "1"}},
    {"SCR_SIGNALS", 1, 1, {"", "USR1:checkpoint", "USR1:checkpoint+flush", "USR1:flush, USR1:halt"}},
    {"SCR_MPI_BUF_SIZE", 1, 0, {"4096", "1000", "65536"}},
    {"SCR_FILE_BUF_SIZE", 1, 0, {"8192", "1000", "1M"}},
};

/* The value of parameter P now: of the seed, or of this lifetime. */
static const char* parameter_value(const parameter* p)
{
  unsigned n = 0, v;
  int      life = S.life;
  char     name[64];

  while (n < sizeof p->value / sizeof *p->value && p->value[n] != NULL) n++;
  snprintf(name, sizeof name, "change.%s", p->name);
  if (p->rare == 2 && !fate_one_in(name, 24)) return p->value[0];
  if (p->rare < 2 && !(p->changes && fate_one_in(name, 8))) S.life = 0;
  v = p->rare == 2 ? 1 + fate_draw(p->name, n - 1) : fate_draw(p->name, n * (p->rare ? 8 : 2));
  S.life = life;
  return p->value[v < n ? v : 0];
}

static int value_is(const char* name, const char* value)
{
  const char* v = world_getenv(name);
  return v != NULL && strcmp(v, value) == 0;
}

/* The name of an older checkpoint that no other dataset has; NULL if there is none. */
static dataset* command_subject(void)
{
  int i;

  for (i = truth.sets - 1; i > 0; i--) {
    if (!truth_has_twin(&truth.set[i]) && truth.set[i].checkpoint && truth.set[i].acked && !truth.set[i].gone &&
        !truth.set[i].rejected)
      return &truth.set[i];
  }
  return NULL;
}

/* The user's choice for this lifetime, by a parameter that is served once in a job for each value. */
static void fate_choice(void)
{
  dataset* d = command_subject();

  plan.wished = 0;
  if (d == NULL || d->picked || plan.beside || plan.fresh || plan.last || !fate_one_in("SCR_CURRENT", 24)) return;
  sim_note("SCR_CURRENT=%s", d->name);
  world_setenv("SCR_CURRENT", d->name);
  plan.wished = d->number;
  truth_choosing(d);
}

/* Set the environment of this lifetime, and tell PLAN what it means. */
static void fate_parameters(void)
{
  char   text[24];
  size_t i;

  world_clear_env();
  world_setenv("SCR_JOB_ID", "sim");
  world_setenv("SCR_PREFIX", PREFIX);
  world_setenv("SCR_CACHE_BASE", "/ssd");
  world_setenv("SCR_CNTL_BASE", "/cntl");
  world_setenv("SCR_USER_NAME", "user");
  world_setenv("SCR_HALT_EXIT", "0");
  for (i = 0; i < sizeof parameters / sizeof *parameters; i++) {
    const char* v = parameter_value(&parameters[i]);
    world_setenv(parameters[i].name, v);
    if (v != parameters[i].value[0]) sim_note("%s=%s", parameters[i].name, v);
  }
  if (plan.theme == THEME_DAEMONS) {
    world_setenv("SCR_FLUSH", "1");
    world_setenv("SCR_FLUSH_ASYNC", "1");
    world_setenv("SCR_FLUSH_TYPE", "DAEMON");
  }
  if (plan.theme == THEME_TWINS) {
    static const char* const flush[] = {"100", "1", "2", "0"};
    world_setenv("SCR_FLUSH", flush[fate_draw("twins.flush", 4)]);
  }
  plan.scheme = world_getenv("SCR_COPY_TYPE");
  plan.failures = atoi(world_getenv("SCR_SET_FAILURES"));
  plan.set_size = atoi(world_getenv("SCR_SET_SIZE"));
  plan.flush = atoi(world_getenv("SCR_FLUSH"));
  plan.async = value_is("SCR_FLUSH_ASYNC", "1");
  plan.bypass = value_is("SCR_CACHE_BYPASS", "1");
  if (truth.cuts) world_setenv("SCR_CRC_ON_RESTART", "1"); /* files that a cut has spoilt are in the caches */
  truth.unsummed |= value_is("SCR_CRC_ON_COPY", "0");
  truth.unsealed |= truth.unsummed || value_is("SCR_CRC_ON_FLUSH", "0"); /* a scavenge rebuilds files without sums */
  plan.crc = !truth.unsummed && !value_is("SCR_CRC_ON_RESTART", "0");
  plan.keep = !value_is("SCR_CACHE_KEEP", "0");
  plan.cache_size = atoi(world_getenv("SCR_CACHE_SIZE"));
  if (plan.theme == THEME_LEVELS) { /* fate_levels */
    world_setenv("SCR_COPY_TYPE", "FILE");
    plan.scheme = "PARTNER";
    plan.cache_size = 1;
  }
  if (plan.time_limit) {
    snprintf(text, sizeof text, "%lu", (unsigned long)(WORLD_EPOCH + 101 + plan.time_limit));
    world_setenv("SCR_HALT_SECONDS", "100");
    world_setenv("SCR_END_TIME", text);
  }
  plan.prefix_size = atoi(world_getenv("SCR_PREFIX_SIZE"));
  truth.windowed |= plan.prefix_size > 0;
  plan.fsync = !value_is("SCR_FSYNC", "0");
  plan.daemon = plan.async && value_is("SCR_FLUSH_TYPE", "DAEMON");
  if (plan.last) world_setenv("SCR_FETCH", "1");
  plan.cache_used = !value_is("SCR_DISTRIBUTE", "0") && !value_is("SCR_CACHE_PURGE", "1");
  plan.prefix_used = !value_is("SCR_FETCH", "0");
  plan.node_sets = !value_is("SCR_GROUP", "WORLD");
  plan.same_ranks = value_is("SCR_RESTART_RANKS", "same");
  if (truth.log_lost) world_setenv("SCR_TRACK", "0");
  if (plan.beside || plan.last) world_setenv("SCR_PREFIX_PURGE", "0");
  plan.purge = value_is("SCR_PREFIX_PURGE", "1");
  plan.signals = strstr(world_getenv("SCR_SIGNALS"), "halt")    ? 3
                 : strstr(world_getenv("SCR_SIGNALS"), "flush") ? 2
                                                                : *world_getenv("SCR_SIGNALS") != '\0';
  if (plan.logs) plan.logs = value_is("SCR_TRACK", "0") ? 2 : 1;
  plan.fresh = truth.refused; /* the user says that the next run is to begin anew, with another value each time */
  snprintf(text, sizeof text, "%d", S.life);
  if (plan.fresh) world_setenv("SCR_FRESH_START", text);
  totals.fresh += (unsigned)plan.fresh;
  fate_choice();
}

/* ---- the machine ---- */

static int   spares;    /* the number of the next machine that replaces a lost one */
static tree* fate_copy; /* the prefix as somebody has copied it, who puts the library's directory back later */

/* Machines that were lost, as they were then. */
static struct {
  tree* t;
  int   machine;
} gone[FATE_NODES];
static int ngone;

static void node_empty(int n)
{
  tree_wipe(world_node[n]);
  tree_mkdir(world_node[n], "/ssd");
  tree_mkdir(world_node[n], "/ssd2");
  tree_mkdir(world_node[n], "/cntl");
}

/* Two levels of the cache, of which one has no directories; all nodes may see that. */
static void fate_levels(void)
{
  static const char* const second[] = {"TYPE=PARTNER", "TYPE=RS SET_FAILURES=2", "TYPE=XOR SET_SIZE=2"};
  int                      global = fate_one_in("levels.global", 3);
  const char*              store = global ? "/shared" : "/ssd2";
  char                     text[400];

  snprintf(text, sizeof text,
           "STORE=/ssd COUNT=1%s\nSTORE=%s COUNT=2 MKDIR=0%s\nCKPT=0 INTERVAL=1 STORE=/ssd TYPE=XOR%s\n"
           "CKPT=1 INTERVAL=2 STORE=%s %s\n",
           fate_draw("levels.threads", 2) ? " TYPE=PTHREAD" : "", store, global ? " VIEW=GLOBAL" : "",
           fate_one_in("levels.hop", 3) ? " HOP_DISTANCE=2" : "", store, second[fate_draw("levels.second", 3)]);
  tree_write(world_prefix, "/p", ".scrconf", text);
}

/* Machines with nothing on them, and an empty prefix. */
static void machine_start(void)
{
  int i;

  for (i = 0; i < plan.nodes; i++) {
    if (!world_node[i]) world_node[i] = tree_new(i + 1);
    node_empty(i);
    world_machine[i] = i + 1;
  }
  while (ngone > 0) tree_free(gone[--ngone].t);
  spares = plan.nodes + 1;
  if (!world_prefix) world_prefix = tree_new(0);
  if (!world_shared) world_shared = tree_new(1 << 20);
  tree_wipe(world_prefix);
  tree_wipe(world_shared);
  world_clock_shift = 0;
  tree_mkdir(world_prefix, "/p");
  if (plan.beside) tree_mkdir(world_prefix, "/q");
  if (plan.theme == THEME_LEVELS) fate_levels();
}

/* The machine of NODE is gone; an empty one takes its place, or one that was lost before, with what it had then. */
static void node_replace(int node)
{
  tree* was = world_node[node];
  int   machine = world_machine[node], twins = plan.theme == THEME_TWINS;
  int   back = ngone > 0 && fate_one_in("lose.returned", twins ? 2 : 4) ? (int)sim_below(twins ? 1 : ngone) : -1;

  if (back >= 0) {
    world_node[node] = gone[back].t;
    world_machine[node] = gone[back].machine;
    memmove(gone + back, gone + back + 1, (size_t)(--ngone - back) * sizeof *gone);
    totals.returned++;
    truth_returned();
    sim_note("machine %d comes back as node %d", world_machine[node], node);
  } else {
    world_node[node] = tree_new(node + 1);
    node_empty(node);
    world_machine[node] = spares++;
  }
  if (ngone < FATE_NODES && (twins || fate_one_in("lose.kept", 2))) {
    gone[ngone].t = was;
    gone[ngone++].machine = machine;
  } else {
    tree_free(was);
  }
  beside_damaged();
  truth_damage(node);
  totals.lost++;
}

/* NODE stays, but without what was not synced; ROT: in place of that, with wrong bytes in some files. */
static void node_spoil(int node, int rot)
{
  int n;

  if (rot)
    for (n = 1 + (int)sim_below(3); n > 0; n--) tree_rot(world_node[node], "");
  else tree_crash(world_node[node], (int)sim_below(CRASH_KINDS));
  beside_damaged();
  truth_damage(node);
  truth.cuts = 1;
  truth.rotten |= rot;
  totals.cuts++;
}

/* How many nodes may be lost more, so that the newest checkpoint survives. */
static int losses_left(void)
{
  int i;

  for (i = truth.sets; i > 0 && !(truth.set[i].checkpoint && truth.set[i].acked); i--) continue;
  return i == 0 ? plan.nodes : truth.set[i].tolerance - truth.damages;
}

/* What happens to the machines after a lifetime: losses within what the scheme survives, most of the time. */
static void machine_suffers(void)
{
  int left = losses_left(), lose = (int)fate_draw("lose", 3), i, node;
  int rot = plan.crc && fate_one_in("lose.rot", 8), cuts = plan.crc && plan.fsync && fate_one_in("lose.power", 3);

  if (fate_one_in("lose.more", 10)) lose++;
  else if (lose > left) lose = left > 0 ? left : 0;
  for (i = 0; i < lose && truth.damages < plan.nodes; i++) {
    do node = (int)sim_below((uint64_t)plan.nodes);
    while (truth_is_damaged(node));
    sim_note("node %d %s", node, rot ? "has a bad disk" : cuts ? "loses power" : "is lost; a spare takes its place");
    if (rot || cuts) node_spoil(node, rot);
    else node_replace(node);
  }
  if (plan.fsync && fate_one_in("lose.prefix.power", 3)) {
    tree_crash(world_prefix, (int)sim_below(CRASH_KINDS));
    sim_note("the prefix loses power");
    totals.cuts++;
  }
}

/* The launcher gives the ranks to the nodes in another order. */
static void machine_permute(void)
{
  int   a = (int)sim_below((uint64_t)plan.nodes), b = (int)sim_below((uint64_t)plan.nodes), i, t;
  tree* x = world_node[a];

  if (plan.theme == THEME_PART || plan.ranks_usual < plan.nodes) return; /* the job does not reach all nodes */
  if (!fate_one_in("permuted", 4)) return;
  world_node[a] = world_node[b];
  world_node[b] = x;
  t = world_machine[a];
  world_machine[a] = world_machine[b];
  world_machine[b] = t;
  for (i = 0; i < truth.damages; i++) {
    t = truth.damaged[i];
    truth.damaged[i] = t == a ? b : t == b ? a : t;
  }
}

/* ---- a seed ---- */

/* What is the same in all lifetimes of the seed. */
static void fate_plan(void)
{
  static const int nodes[] = {4, 4, 3, 5, 2, 6}, per_node[] = {2, 2, 2, 1, 3};

  memset(&plan, 0, sizeof plan);
  plan.nodes = nodes[fate_draw("nodes", 6)];
  plan.ranks = plan.nodes * per_node[fate_draw("ranks.per_node", 5)] - fate_one_in("ranks.uneven", 8);
  plan.lifetimes = 6 - (int)fate_draw("lifetimes.fewer", 3);
  plan.size_most = fate_draw("size", 3) == 2 ? 40000 : 6000;
  plan.files_most = fate_one_in("files.many", 4) ? 3 : 1;
  plan.layout = fate_one_in("files.shared", 16) ? 3 : (int)fate_draw("layout", 4) % 3;
  plan.ranks_usual = plan.members = plan.ranks;
  plan.theme = (int)fate_draw("theme", THEMES);
  plan.logs = fate_one_in("logs", 8);
  if (fate_one_in("regions", 8) && plan.layout != 3) plan.regions = 64 + (int)fate_draw("regions.elements", 4000);
  plan.recovers = plan.regions && !plan.logs && fate_one_in("recovers", 3);
  plan.beside = plan.theme == THEME_PART ? (int)fate_draw("beside", BESIDES) : BESIDE_NONE;
  if (fate_one_in("time.limit", 12)) plan.time_limit = 1 + (int)fate_draw("time.limit.seconds", 300);
  plan.copies = fate_one_in("copies", 12);
  tree_free(fate_copy);
  fate_copy = NULL;
  plan.steps = -1;
  S.preempt = fate_draw("preempt", 3) == 0 ? 0 : fate_draw("preempt.much", 2) ? 200 : 40;
  S.not_yet = fate_one_in("mpi.late", 2) ? 100 : 0;
  S.eager = fate_draw("mpi.eager", 3) == 0 ? 1u << 30 : fate_draw("mpi.eager.no", 2) ? 0 : 256;
  S.bcast_waits = (int)fate_draw("mpi.bcast_waits", 2);
  S.latency = 250;
  S.prefix_latency = fate_one_in("prefix.slow", 3) ? 20000u << fate_draw("prefix.slower", 6) : 0;
}

/* Which faults happen in this lifetime, and who is killed when; CALLS is how long such a lifetime is. */
static void fate_of_life(uint64_t calls)
{
  static const unsigned kinds[] = {
      FAULT_EIO | FAULT_ENOSPC, FAULT_READ, FAULT_SHORT, FAULT_FSYNC | FAULT_CLOSE, 0x3f, FAULT_MEMORY, FAULT_MPI};

  S.faults = 0;
  S.kill_at = UINT64_MAX;
  S.kill_rename = 0;
  S.kill_mark = 0;
  if (plan.last) return;
  if (fate_one_in("faults", 4)) {
    S.faults = kinds[fate_draw("faults.kind", sizeof kinds / sizeof *kinds)];
    S.fault_rate = 30u << fate_draw("faults.rate", 5);
    if (fate_one_in("faults.list", 8)) S.faults = FAULT_LIST;
    if (fate_one_in("faults.answer", 8)) S.faults = FAULT_ANSWER;
    if (fate_one_in("faults.away", 8)) {
      S.faults = FAULT_AWAY;
      S.away_at = 1 + sim_below(calls);
      S.back_at = S.away_at + 1 + sim_below(calls / 2);
    }
  } else if (fate_one_in("full", 12)) { /* there is little room for a while */
    S.faults = FAULT_ROOM;
    tree_room(fate_draw("full.node", 2) ? world_node[0] : world_prefix, sim_below(60000));
  }
  plan.hit = !fate_one_in("spared", 9);
  world_kill_what = (int)fate_draw("kill.what", plan.daemon ? 4 : 3);
  if (plan.hit && plan.theme == THEME_TWINS && fate_one_in("kill.mark", 4)) S.kill_mark = 1, world_kill_what = 2;
  else if (plan.hit && fate_one_in("kill.rename", 4)) S.kill_rename = 1 + sim_below(60); /* most commits are renames */
  else if (plan.hit) S.kill_at = 1 + sim_below(calls + calls / 8);
}

/* ---- commands ---- */

/* The daemons of the nodes, as scr_prerun starts them. */
static void daemons_start(void)
{
  int i;

  for (i = 0; i < plan.nodes && plan.daemon; i++) {
    if (fate_one_in("daemon.missing", 8)) continue;
    spawn_command(i, "scr_transfer /cntl/user/scr.sim")->background = 1;
    if (plan.beside) spawn_command(i, "scr_transfer /cntl/user/scr.sim.1")->background = 1;
  }
}

/* A file of the prefix is damaged, of which the library can do without. */
static void notes_damaged(void)
{
  static const char* const files[] = {"/p/.scr/flush.scr", "/p/.scr/nodes.scr", "/p/.scr/status.scr"};
  const char*              file = files[fate_draw("notes.which", 3)];
  int                      i;

  if (!fate_one_in("notes.damaged", 20) || !tree_spoil(world_prefix, file)) return;
  sim_note("%s is damaged", file);
  truth.notes_lost |= file == files[0];
  for (i = 1; i <= truth.sets; i++) { /* nobody knows what was in caches */
    truth.set[i].told = truth.set[i].left = 1;
    truth.set[i].unnoted |= file == files[0];
  }
}

/* A purge takes a file of a dataset from the prefix, and the index goes on to call it complete; or a byte changes. */
static void prefix_purged(void)
{
  const dataset* d;
  char           name[NAME_MOST + 8];
  int            rots;

  if (!fate_one_in("purge", 12) || truth.sets == 0) return;
  rots = !truth.unsealed && fate_one_in("purge.rot", 2);
  d = &truth.set[truth.sets - (int)fate_draw("purge.which", truth.sets < 4 ? (unsigned)truth.sets : 4)];
  snprintf(name, sizeof name,
           plan.layout == 1                    ? "/all/%s_"
           : d->checkpoint && plan.layout == 3 ? "/p/same/"
                                               : "/p/%s/",
           d->name);
  if (!(rots ? tree_rot : tree_purge)(world_prefix, name)) return;
  sim_note("a file of %s %s", d->name, rots ? "has a wrong byte" : "is purged");
  truth_purged(d, rots);
}

/* Somebody keeps a copy of what the library has on the prefix for itself, and puts it back after a later run. */
static void prefix_restored(void)
{
  if (!plan.copies) return;
  if (!fate_copy) {
    if (fate_one_in("copied", 2)) fate_copy = tree_copy(world_prefix);
  } else if (fate_one_in("restored", 3) && tree_restore(world_prefix, fate_copy, "/p", ".scr")) {
    sim_note("an older .scr is put back");
    truth_restored();
  }
}

/* Run a command between two lifetimes, on NODE.  Returns 1 if it has said success. */
static int command_run(int node, const char* line)
{
  process* p;
  int      code;

  sim_note("command: %s", line);
  world_begin(0, plan.node_of, program_run);
  p = spawn_command(node, line);
  world_run();
  code = p->ended ? p->code : -1;
  totals.commands++;
  world_end();
  S.kill_at = UINT64_MAX;
  return code == 0;
}

/* It may be killed. */
static int command_on(int node, const char* line)
{
  S.kill_at = fate_one_in("command.killed", 4) ? 1 + sim_below(300) : UINT64_MAX;
  return command_run(node, line);
}

static int command_between(const char* line)
{
  return command_on(0, line);
}

/*
** Some dataset is copied from the nodes to the prefix, as a scavenge begins, and is rebuilt in a cache: neither is in
** the way of what is there.
*/
static void commands_scavenge(void)
{
  char line[200];
  int  i, id = 1 + (int)fate_draw("command.id", 12);

  snprintf(line, sizeof line, "scr_copy --cntldir /cntl/user/scr.sim --id %d --prefix " PREFIX, id);
  for (i = 0; i < plan.nodes; i++) command_on(i, line);
  snprintf(line, sizeof line, "scr_rebuild %s/ssd/user/scr.sim/scr.dataset.%d",
           fate_draw("command.dry", 2) ? "--dry-run " : "", id);
  command_on((int)fate_draw("command.node", (unsigned)plan.nodes), line);
}

/* ---- what is saved after a run ---- */

/* The nodes, as SCR_NODELIST has them. */
static void scavenge_nodes(void)
{
  char text[1024] = "";
  int  i, n = 0;

  for (i = 0; i < plan.nodes; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%snode%d", i ? "," : "", world_machine[i]);
  world_setenv("SCR_NODELIST", text);
}

/* TEXT, which a command has printed, says what is on the prefix: that must be there, whole. */
static void scavenge_believe(const char* command, const char* text)
{
  const char* at;
  int         id, n, number;

  for (at = text; (at = strstr(at, "dataset ")) != NULL; at++) {
    n = 0;
    if (sscanf(at, "dataset %d is in " PREFIX "/%n", &id, &n) != 1 || n == 0) {
      n = 0;
      if (sscanf(at, "dataset %d is on the prefix already%n", &id, &n) != 1 || n == 0) continue;
    }
    number = truth_saved(id);
    if (number < 0 && strstr(at + 1, " is in " PREFIX "/") != NULL) continue; /* which may have taken its place */
    if (number < 0) sim_violation("%s says that dataset %d is on the prefix, but the index does not", command, id);
    else truth_scavenged(number);
    totals.saved++;
  }
}

/* One scavenge, which may be killed, or meet faults; DOWN nodes do not answer. */
static void scavenge_once(int try, int down)
{
  static const unsigned kinds[] = {FAULT_EIO | FAULT_ENOSPC,  FAULT_READ, FAULT_SHORT,
                                   FAULT_FSYNC | FAULT_CLOSE, 0x3f,       FAULT_MEMORY};
  int                   postrun = fate_one_in("scavenge.postrun", 2), savable = truth_savable(down), code;
  const char*           command = postrun ? "scr_postrun --prefix " PREFIX : "scr_scavenge --prefix " PREFIX;
  char*                 text;
  size_t                n;
  FILE*                 out = open_memstream(&text, &n);
  process*              p;

  S.kill_at = (try == 0 && fate_one_in("scavenge.killed", 3)) ? 1 + sim_below(6000) : UINT64_MAX;
  world_kill_what = (int)fate_draw("scavenge.kill.what", 3);
  if (S.kill_at == UINT64_MAX && try == 0 && fate_one_in("scavenge.faults", 4)) {
    S.faults = kinds[fate_draw("scavenge.faults.kind", sizeof kinds / sizeof *kinds)];
    S.fault_rate = 30u << fate_draw("scavenge.faults.rate", 5);
    if (fate_one_in("scavenge.faults.list", 8)) S.faults = FAULT_LIST;
    if (fate_one_in("scavenge.faults.answer", 8)) S.faults = FAULT_ANSWER;
  }
  sim_note("command: %s, %d nodes down", command, down);
  world_begin(0, plan.node_of, program_run);
  p = spawn_command((int)fate_draw("scavenge.node", (unsigned)plan.nodes), command);
  p->out = out;
  world_run();
  code = p->ended ? p->code : -1;
  fclose(out);
  totals.scavenges++;
  if (code == 0) totals.scavenged++;
  if (S.verbose) fprintf(stderr, "%s", text);
  if (S.struck || S.faults) savable = 0;
  world_end();
  S.kill_at = UINT64_MAX;
  S.faults = 0;
  if (plan.fsync && fate_one_in("scavenge.power", 4)) {
    sim_note("the prefix loses power");
    tree_crash(world_prefix, (int)sim_below(CRASH_KINDS));
  }
  truth_audit(0);
  scavenge_believe(command, text);
  if (!postrun && savable < truth.sets) savable = 0; /* it takes the newest alone, which may be one that nobody knows */
  if (savable && code != 0 && !truth_is_indexed(savable))
    sim_violation("%s ends with %d, but %s (number %d) could be saved, with %d nodes damaged and %d down: %s", command,
                  code, truth.set[savable].name, savable, truth.damages, down, text);
  free(text);
}

/* What the caches have is brought to the prefix; some nodes may be down. */
static void fate_scavenge(void)
{
  int i, node, down = 0, tries, front;

  if (!fate_one_in("scavenge", 5)) return;
  scavenge_nodes();
  memset(spawn_down, 0, sizeof *spawn_down * FATE_NODES);
  front = (int)fate_draw("scavenge.node", (unsigned)plan.nodes);
  for (i = fate_one_in("scavenge.down", 3); i > 0; i--) {
    node = (int)fate_draw("scavenge.down.which", (unsigned)plan.nodes);
    if (node == front) continue;
    spawn_down[node] = fate_one_in("scavenge.down.hangs", 4) ? NODE_HANGS : NODE_REFUSES;
    down += !truth_is_damaged(node);
  }
  tries = 1 + (int)fate_draw("scavenge.again", 3);
  for (i = 0; i < tries && !S.failures; i++) scavenge_once(i, down);
  memset(spawn_down, 0, sizeof *spawn_down * FATE_NODES);
  world_setenv("SCR_NODELIST", NULL);
}

/* The index is damaged, and a person has a new one made. */
static void index_damaged(void)
{
  if (!fate_one_in("index.damaged", 24) || !tree_spoil(world_prefix, "/p/.scr/index.scr")) return;
  sim_note("the index is damaged");
  truth_unindexed();
  command_between("scr_index --build");
  command_run(0, "scr_index --build"); /* it names what a killed flush has left, and fails */
}

/* What a person does on the prefix between two runs. */
static void fate_commands(void)
{
  static const char* const looks[] = {"scr_index --list", "scr_index --long", "scr_index --json", "scr_have_restart",
                                      "scr_status",       "scr_nodes_file",   "scr_halt --list",  "scr_retries_halt"};
  static const char* const halts[] = {"scr_halt", "scr_halt --checkpoints 1", "scr_halt --after now+1m",
                                      "scr_halt --before now+1h --seconds 60"};
  dataset*                 d = command_subject();
  char                     line[200];
  int                      i;

  if (!fate_one_in("commands", 5)) return;
  command_between(looks[fate_draw("command.look", 8)]);
  switch (fate_draw("command.act", 8)) {
  case 1:
    command_between("scr_index --build");
    for (i = 1; i <= truth.sets; i++)
      if (truth.set[i].gone) truth.set[i].gone = 1; /* what was dropped is there again */
    break;
  case 2:
    if (!d) break;
    snprintf(line, sizeof line, "scr_index --current %s", d->name);
    truth_choosing(d);
    if (command_between(line)) truth_chosen(d, 0);
    break;
  case 3:
    if (!d) break;
    snprintf(line, sizeof line, "scr_index --%s %s", fate_draw("command.delete", 2) ? "delete" : "drop", d->name);
    truth_deleting(d);
    command_between(line);
    break;
  case 4:
    i = (int)fate_draw("command.halt", 4);
    truth.halts = 1;
    if (command_between(halts[i]) && i < 2) truth.halts = 2;
    break;
  case 5:
    if (command_between("scr_halt --remove")) truth.halts = 0;
    break;
  case 6:
    if (!plan.beside) commands_scavenge(); /* which would have to find out whose directory scr.sim is */
    break;
  default:
    break;
  }
}

/* Write all files, as they are after this lifetime, below DIR. */
static void fate_save(const char* dir)
{
  char path[4096];
  int  i;

  for (i = 0; i < plan.nodes; i++) {
    snprintf(path, sizeof path, "%s/%d/node%d", dir, S.life, world_machine[i]);
    tree_save(world_node[i], path);
  }
  snprintf(path, sizeof path, "%s/%d/pfs", dir, S.life);
  tree_save(world_prefix, path);
}

static uint64_t lock_until; /* somebody holds a lock of the prefix until then */

/* Run lifetime S.life; *CALLS: how many calls one takes that nobody ends. */
static void fate_life(uint64_t* calls)
{
  unsigned seconds;
  int      i, clean, marked;

  plan.last = S.life == plan.lifetimes + 1;
  plan.ranks = plan.ranks_usual;
  if (fate_one_in("ranks.other", 9)) plan.ranks = plan.nodes * (1 + (int)fate_draw("ranks.other.per_node", 3));
  for (i = 0; i < plan.ranks; i++) plan.node_of[i] = (int)((int64_t)i * plan.nodes / plan.ranks);
  plan.members = plan.ranks;
  while (plan.theme == THEME_PART && plan.beside != BESIDE_SHARED && plan.members > 1 &&
         plan.node_of[plan.members - 1] == plan.nodes - 1)
    plan.members--; /* the last node does something else */
  for (i = 0; i < plan.nodes && plan.beside == BESIDE_SHARED; i++) plan.node_of[plan.ranks++] = i;
  sim_reseed("life");
  if (plan.last || fate_one_in("lose.all", plan.theme == THEME_TWINS ? 2 : 9))
    for (i = 0; i < plan.nodes; i++) node_replace(i);
  fate_parameters();
  fate_of_life(*calls);
  truth_begin_life();
  truth.lock_held = S.now < lock_until; /* since a lifetime before, which was short */
  if (fate_one_in("lock.held", 20) && !plan.last) {
    seconds = 4 + fate_draw("lock.seconds", 20);
    files_hold(world_prefix, fate_draw("lock.which", 2) ? "/p/.scr/index.scr.lock" : "/p/.scr/flush.scr.lock", seconds);
    lock_until = S.now + seconds * 1000000000ull;
    truth.lock_held = 1;
  }
  world_begin(plan.ranks, plan.node_of, program_run);
  beside_begin_life();
  daemons_start();
  world_run();
  totals.lifetimes++;
  totals.calls += S.ops;
  if (S.struck) totals.killed++;
  else *calls = S.ops;
  files_prefix_back();
  truth_after_life(!S.struck);
  beside_after_life();
  clean = !S.struck && !S.faults && !truth.code && truth.finals == plan.members;
  world_end();
  S.faults = 0;
  S.kill_rename = 0;
  marked = S.kill_mark == 2 ? S.struck_node : -1;
  S.kill_mark = 0;
  for (i = 0; i < plan.nodes; i++) tree_room(world_node[i], UINT64_MAX);
  tree_room(world_prefix, UINT64_MAX);
  if (!S.failures && (fate_one_in("audit", 3) || plan.layout == 3)) truth_audit(clean); /* 3: who has the files now */
  if (fate_one_in("clock.jumps", 6) && !plan.time_limit) world_clock_shift += (int64_t)sim_below(2000000) - 1000000;
  S.now += 1000000000ull * (1 + sim_below(60));
  if (fate_dump) fate_save(fate_dump);
  if (S.failures || plan.last) return;
  if (marked >= 0) node_replace(marked); /* it alone knows what was about to be deleted */
  machine_suffers();
  machine_permute();
  notes_damaged();
  prefix_purged();
  prefix_restored();
  index_damaged();
  fate_scavenge();
  fate_commands();
}

int fate_run(uint64_t seed)
{
  uint64_t calls;

  S.seed = S.hash = seed;
  S.life = 0;
  S.failures = 0;
  S.why[0] = '\0';
  S.now = 0;
  S.faults_made = 0;
  fate_nmade = 0;
  lock_until = 0;
  world_launches = 1;
  truth_begin_seed();
  beside_begin_seed();
  fate_plan();
  machine_start();
  calls = 4000 * (uint64_t)plan.ranks;
  for (S.life = 1; S.life <= plan.lifetimes + 1 && !S.failures; S.life++) fate_life(&calls);
  totals.seeds++;
  totals.faults += S.faults_made;
  return S.failures != 0;
}

/* ---- for the runs that measure ---- */

void fate_scale(int ranks, int per_node)
{
  int i;

  fate_plain = 1;
  S.seed = 1;
  S.life = 0;
  S.failures = 0;
  S.why[0] = '\0';
  S.now = 0;
  S.preempt = S.not_yet = 0;
  S.eager = 4096;
  S.latency = 250000 / (unsigned)ranks + 1;
  S.prefix_latency = 0;
  S.faults = 0;
  S.kill_at = UINT64_MAX;
  world_most_calls = UINT64_MAX;
  truth_begin_seed();
  fate_plan();
  plan.nodes = ranks / per_node;
  plan.ranks = plan.ranks_usual = plan.members = ranks;
  for (i = 0; i < ranks; i++) plan.node_of[i] = i / per_node;
  machine_start();
  fate_parameters();
  world_setenv("SCR_RANK2FILE_SIZE", "4K");
  sim_reseed("scale");
}

void fate_lose(int node)
{
  node_replace(node);
}
