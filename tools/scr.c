/* scr - all commands in one program: `scr index --list` is `scr_index --list`, and so is a link of that name. */
#define TOOL_TOGETHER
#include "explain.h"
#include "pages.h"

#include "scr_check_node.c"
#include "scr_checkpoint.c"
#include "scr_clean.c"
#include "scr_ckpt_interval.c"
#include "scr_copy.c"
#include "scr_crc32.c"
#include "scr_env.c"
#include "scr_flush_file.c"
#include "scr_get_jobstep_id.c"
#include "scr_halt.c"
#include "scr_have_restart.c"
#include "scr_hostlist.c"
#include "scr_image.c"
#include "scr_index.c"
#include "scr_inspect.c"
#include "scr_kill_jobstep.c"
#include "scr_list_dir.c"
#include "scr_list_down_nodes.c"
#include "scr_log_event.c"
#include "scr_nodes_file.c"
#include "scr_postrun.c"
#include "scr_prefix.c"
#include "scr_prerun.c"
#include "scr_print_hash_file.c"
#include "scr_rebuild.c"
#include "scr_regions.c"
#include "scr_remote.c"
#include "scr_report.c"
#include "scr_retries_halt.c"
#include "scr_run.c"
#include "scr_scavenge.c"
#include "scr_should_exit.c"
#include "scr_status.c"
#include "scr_test_runtime.c"
#include "scr_test_system.c"
#include "scr_transfer.c"
#include "scr_watchdog.c"
#include "scr_where.c"

/* X(name, what it does): the function is <name>_main. */
#define PROGRAM_COMMANDS(X)                                                                                            \
  X(index, "list the checkpoints on a prefix, choose, add or drop one")                                                \
  X(checkpoint, "ask a run for a checkpoint now")                                                                      \
  X(halt, "ask a run to end, or set when it ends")                                                                     \
  X(status, "show what a run is doing")                                                                                \
  X(have_restart, "print the checkpoint that the next run would restart from")                                         \
  X(where, "print where the last run keeps its cache")                                                                 \
  X(flush_file, "tell which datasets are in the cache, and which need a flush")                                        \
  X(nodes_file, "print the number of nodes of the last run")                                                           \
  X(retries_halt, "tell whether a job should not be started again")                                                    \
  X(should_exit, "tell whether a job script should start another run")                                                 \
  X(regions, "list the regions in a file of a checkpoint, or take one out")                                            \
  X(image, "print what the image of a process has, and whether it can be loaded here")                                 \
  X(rebuild, "rebuild lost files from redundancy files")                                                               \
  X(rebuild_xor, "rebuild one member of an XOR set")                                                                   \
  X(env, "print user, job, nodes and end of the allocation")                                                           \
  X(prefix, "print the prefix directory")                                                                              \
  X(run, "run a program in an allocation, again after failures, and save what it leaves")                              \
  X(srun, "the same, with srun")                                                                                       \
  X(mpirun, "the same, with mpiexec")                                                                                  \
  X(prerun, "check and prepare what the runs of an allocation need")                                                   \
  X(postrun, "save what the caches have, at the end of an allocation")                                                 \
  X(scavenge, "bring a dataset from the caches of a job that has ended to the prefix")                                 \
  X(remote, "run a line of the shell on the nodes of the allocation")                                                  \
  X(clean, "remove from the caches of the nodes what the prefix has")                                                  \
  X(copy, "copy what this node has of a dataset to the prefix, for a scavenge")                                        \
  X(transfer, "copy what asynchronous flushes leave to the daemon of this node")                                       \
  X(inspect, "tell which datasets can be put together from the caches of the nodes")                                   \
  X(inspect_cache, "print what the cache of this node has")                                                            \
  X(list_dir, "print the control or cache directories of a job")                                                       \
  X(check_node, "check that the control and cache directories of this node work")                                      \
  X(list_down_nodes, "find the nodes of an allocation that do not work")                                               \
  X(test_runtime, "check that the programs which the commands call are here")                                          \
  X(test_system, "test whether the jobs of this system survive failures, and how fast its nodes write")                \
  X(get_jobstep_id, "print the job step that a launcher has started")                                                  \
  X(kill_jobstep, "end a job step")                                                                                    \
  X(watchdog, "end a job step that makes no progress")                                                                 \
  X(log_event, "write an event to the log")                                                                            \
  X(log_transfer, "write a transfer to the log")                                                                       \
  X(report, "tell what the runs of a job did with their time, as text or as a page")                                   \
  X(ckpt_interval, "compute the best time between checkpoints from the log")                                           \
  X(hostlist, "count, select, compress and expand lists of hosts")                                                     \
  X(glob_hosts, "the same, with the options of earlier releases")                                                      \
  X(print_hash_file, "print a metadata file")                                                                          \
  X(crc32, "print the CRC32 of files")

#define PROGRAM_ROW(name, text) {#name, text, name##_main},
static const struct {
  const char *name, *text;
  int (*run)(int argc, char** argv);
} program_commands[] = {PROGRAM_COMMANDS(PROGRAM_ROW)};
#undef PROGRAM_ROW

#define PROGRAM_NCOMMANDS ((int)(sizeof program_commands / sizeof *program_commands))

static const char program_completion[] =
    "# Completion for bash; put it in effect with:  eval \"$(scr completion bash)\"\n"
    "_scr() {\n"
    "  local scr=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} name\n"
    "  name=${scr##*/scr} name=${name#scr}\n"
    "  if [ -z \"$name\" ]; then\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "      COMPREPLY=($(compgen -W \"$_scr_commands help explain completion --help --version\" -- \"$cur\"))\n"
    "      return\n"
    "    fi\n"
    "    name=${COMP_WORDS[1]}\n"
    "    case $name in\n"
    "    help) COMPREPLY=($(compgen -W \"$_scr_commands $_scr_chapters\" -- \"$cur\")); return ;;\n"
    "    completion) COMPREPLY=($(compgen -W bash -- \"$cur\")); return ;;\n"
    "    esac\n"
    "  else\n"
    "    scr=${scr%\"$name\"}\n"
    "  fi\n"
    "  case $cur in\n"
    "  -*) COMPREPLY=($(compgen -W \"$(\"$scr\" help \"${name#_}\" 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort "
    "-u)\" -- "
    "\"$cur\")) ;;\n"
    "  *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
    "  esac\n"
    "}\n"
    "complete -o filenames -F _scr scr $(printf 'scr_%s ' $_scr_commands)\n";

/* The number of the command NAME, with or without scr_ before it, and with - for _; -1 if there is none. */
static int program_find(const char* name)
{
  int i, k;

  if (strncmp(name, "scr_", 4) == 0) name += 4;
  for (i = 0; i < PROGRAM_NCOMMANDS; i++) {
    const char* known = program_commands[i].name;
    for (k = 0; known[k] != '\0' && (name[k] == known[k] || (name[k] == '-' && known[k] == '_')); k++) continue;
    if (known[k] == '\0' && name[k] == '\0') return i;
  }
  return -1;
}

/* Run the command I, as if it were called by its own name. */
static int program_run(int i, int argc, char** argv)
{
  char name[64];

  snprintf(name, sizeof name, "scr_%s", program_commands[i].name);
  argv[0] = name;
  return program_commands[i].run(argc, argv);
}

static int program_refuse(const char* name)
{
  char text[256];

  snprintf(text, sizeof text, "there is no command %.100s; `scr help` lists them", name);
  return tool_fail("scr", 1, text);
}

/* Print what there is. */
static void program_print_help(FILE* out)
{
  const manual_chapter* c;
  int                   i;

  fprintf(out, "Usage: scr COMMAND [ARGUMENTS]\n\n");
  for (i = 0; i < PROGRAM_NCOMMANDS; i++)
    fprintf(out, "  %-18s%s\n", program_commands[i].name, program_commands[i].text);
  fprintf(out, "  %-18s%s\n", "completion bash", "print a script that completes commands and options in bash");
  fprintf(out, "  %-18s%s\n", "explain MESSAGE",
          "print cause and remedy of a message, or of those in the input with -");
  fprintf(out, "  %-18s%s\n", "help [TOPIC]",
          "print this, or the options of a command, a parameter, a call, or a chapter:");
  fprintf(out, "\n");
  for (c = manual_chapters; c->name != NULL; c++) fprintf(out, "  help %-13s%s\n", c->name, manual_about(c));
  fprintf(out,
          "\n`scr --version` prints the version.  Each command also has the name scr_COMMAND, such as scr_index.\n");
}

/* ---- the manual ---- */

/* The parameters of the library, and the values of their types in words. */
typedef struct {
  const char*    name;
  scr_param_type type;
  const char *   choices, *fallback;
  scr_param_who  who;
  const char*    sentence;
} program_param;

#define PROGRAM_PARAM(name, type, choices, fallback, who, sentence)                                                    \
  {#name, SCR_PARAM_##type, choices, fallback, SCR_PARAM_##who, sentence},
#define PROGRAM_TYPE(name, text) text,
static const program_param program_params[] = {SCR_PARAMS(PROGRAM_PARAM)};
static const char* const   program_types[] = {SCR_PARAM_TYPES(PROGRAM_TYPE)};
#undef PROGRAM_PARAM
#undef PROGRAM_TYPE

#define PROGRAM_NPARAMS ((int)(sizeof program_params / sizeof *program_params))

/* Print the parameter P as a row of a table. */
static void program_parameter(manual_out* o, const program_param* p)
{
  char        term[256], text[MANUAL_TEXT];
  const char *texts[] = {text}, *choice = p->choices;
  size_t      n = (size_t)snprintf(text, sizeof text, "%s", p->sentence);

  if (p->fallback != NULL) snprintf(term, sizeof term, "`%s`, by default %s", p->name, p->fallback);
  else snprintf(term, sizeof term, "`%s`", p->name);
  if (choice != NULL) {
    n += (size_t)snprintf(text + n, sizeof text - n, " Value: one of");
    for (; *choice != '\0'; choice += strcspn(choice, "|"), choice += *choice == '|')
      n += (size_t)snprintf(text + n, sizeof text - n, " %.*s,", (int)strcspn(choice, "|"), choice);
    snprintf(text + n - 1, sizeof text - n + 1, ".");
  } else if (p->who != SCR_PARAM_LINE) {
    snprintf(text + n, sizeof text - n, " Value: %s.", program_types[p->type]);
  }
  manual_term(o, term, texts, 1, 0);
}

/* Print the table NAME of the manual. */
static void program_table(manual_out* o, const char* name)
{
  char        term[64];
  const char* texts[1];
  int         i;

  if (strcmp(name, "parameters") == 0) {
    for (i = 0; i < PROGRAM_NPARAMS; i++) program_parameter(o, &program_params[i]);
  } else if (strcmp(name, "commands") == 0) {
    for (i = 0; i < PROGRAM_NCOMMANDS; i++) {
      snprintf(term, sizeof term, "scr_%s", program_commands[i].name);
      texts[0] = program_commands[i].text;
      manual_term(o, term, texts, 1, 23);
    }
  } else if (strcmp(name, "codes") == 0) {
#define PROGRAM_CODE(name, value, text)                                                                                \
  snprintf(term, sizeof term, "%d %s", value, #name);                                                                  \
  texts[0] = text;                                                                                                     \
  manual_term(o, term, texts, 1, 26);
    SCR_ERRORS(PROGRAM_CODE)
#undef PROGRAM_CODE
  }
}

/* Print what the manual says about the parameter or call NAME.  Returns 1 if it says nothing. */
static int program_topic(const char* name)
{
  const char *const *end, *const *contract = manual_contract(manual_find("scr.h"), name, &end);
  const char* rows[] = {"|", "|", manual_row(manual_find("parameters"), name), NULL};
  manual_out  o;
  int         i;

  for (i = 0; i < PROGRAM_NPARAMS && strcmp(program_params[i].name, name) != 0; i++) continue;
  if (i == PROGRAM_NPARAMS && rows[2] == NULL && contract == NULL) return 1;
  o = manual_begin();
  if (i < PROGRAM_NPARAMS) program_parameter(&o, &program_params[i]);
  else if (rows[2] != NULL) manual_rows(&o, rows);
  for (; contract != NULL && contract != end; contract++) fprintf(o.out, "%s\n", *contract);
  return manual_end(&o);
}

/* Print the chapter C. */
static int program_chapter(const manual_chapter* c)
{
  manual_out         o = manual_begin();
  const char* const* line;

  o.table = program_table;
  if (strcmp(c->name, "scr.h") != 0) manual_print(&o, c->lines, NULL);
  else
    for (line = c->lines; *line != NULL; line++) fprintf(o.out, "%s\n", *line);
  return manual_end(&o);
}

/* What the command I prints for --help, in TEXT, of N bytes.  Returns 0 if that fails. */
static int program_usage(int i, char* text, size_t n)
{
  static char option[] = "--help";
  char*       ask[] = {NULL, option, NULL};
  int         ends[2];
  size_t      used = 0;
  ssize_t     got;
  pid_t       child;

  fflush(stdout);
  if (pipe(ends) < 0) return 0;
  if ((child = fork()) == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    i = program_run(i, 2, ask);
    fflush(stdout);
    _exit(i);
  }
  close(ends[1]);
  while (child > 0 && used + 1 < n && (got = read(ends[0], text + used, n - 1 - used)) > 0) used += (size_t)got;
  text[used] = '\0';
  close(ends[0]);
  return child > 0 && waitpid(child, NULL, 0) == child && used > 0;
}

/* Write the man pages below DIR. */
static int program_pages(const char* dir)
{
  const manual_chapter *c, *params = manual_find("parameters"), *header = manual_find("scr.h");
  const char* const*    line;
  char                  text[PAGES_TEXT];
  manual_out            o;
  int                   i;

  if (params == NULL || header == NULL) return tool_fail("scr", 1, "this scr was built without its manual");
  for (i = 0; i < PROGRAM_NCOMMANDS; i++)
    if (!program_usage(i, text, sizeof text) ||
        !pages_command(dir, program_commands[i].name, program_commands[i].text, text))
      return 1;
  if (!pages_begin(&o, dir, "scr", 1, "the commands for checkpoints of MPI programs, and their manual")) return 1;
  fputs(".SH SYNOPSIS\n.nf\nscr COMMAND [ARGUMENTS]\nscr help [TOPIC]\nscr explain MESSAGE | -\nscr completion "
        "bash\n.fi\n"
        ".SH DESCRIPTION\nEach command has a page of its own, and the name scr_COMMAND, too.\n",
        o.out);
  program_table(&o, "commands");
  fputs(".SH MANUAL\nThese chapters are in \n.BR scr (7),\nand printed by `scr help CHAPTER':\n", o.out);
  for (c = manual_chapters; c->name != NULL; c++) {
    const char* about[] = {manual_about(c)};
    manual_term(&o, c->name, about, 1, 0);
  }
  if (!pages_end(&o, ".BR scr.conf (5),\n.BR scr (7),\n.BR SCR_Init (3)")) return 1;
  if (!pages_begin(&o, dir, "scr.conf", 5, "parameters of checkpoints of MPI programs")) return 1;
  o.table = program_table;
  o.man = 2;
  manual_print(&o, params->lines, NULL);
  if (!pages_end(&o, ".BR scr (1),\n.BR scr (7)")) return 1;
  if (!pages_begin(&o, dir, "scr", 7, "checkpoints of MPI programs")) return 1;
  o.table = program_table;
  for (c = manual_chapters; c->name != NULL; c++)
    if (c != params && c != header) manual_print(&o, c->lines, NULL);
  if (!pages_end(&o, ".BR scr (1),\n.BR scr.conf (5),\n.BR SCR_Init (3)")) return 1;
  for (line = header->lines; *line != NULL;) {
    if (strncmp(*line, "SCR_API ", 8) != 0) line++;
    else if (!pages_calls(dir, header, &line)) return 1;
  }
  return 0;
}

/* The command `help`, with its arguments from ARGV[1] on. */
static int program_help(int argc, char** argv)
{
  static char           option[] = "--help";
  char*                 ask[] = {NULL, option, NULL};
  const manual_chapter* c;
  char                  text[512];
  int                   i;

  if (argc < 2) {
    program_print_help(stdout);
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--pages") == 0) return program_pages(argv[2]);
  if (argc > 3) return tool_fail("scr", 1, "help is for one topic: scr help [TOPIC], or scr help params [NAME]");
  if ((i = program_find(argv[1])) >= 0 && argc == 2) return program_run(i, 2, ask);
  c = manual_find(argv[1]);
  if (c != NULL && argc == 2) return program_chapter(c);
  if (c == NULL && argc == 3) return program_refuse(argv[1]);
  if (program_topic(argv[argc - 1]) == 0) return 0;
  if (manual_chapters[0].name == NULL)
    snprintf(text, sizeof text,
             "there is no command %.100s, and this scr was built without its manual; `make` builds it in", argv[1]);
  else if (argc == 3)
    snprintf(text, sizeof text, "there is no parameter %.100s; `scr help params` lists them", argv[2]);
  else
    snprintf(text, sizeof text,
             "there is no command %.100s, nor a chapter, parameter or call of this name; `scr help` lists them",
             argv[1]);
  return tool_fail("scr", 1, text);
}

/* The command `completion`, with its arguments from ARGV[1] on. */
static int program_complete(int argc, char** argv)
{
  int i;

  if (argc != 2 || strcmp(argv[1], "bash") != 0)
    return tool_fail("scr", 1, "completion is for one shell, bash: eval \"$(scr completion bash)\"");
  printf("_scr_commands='");
  for (i = 0; i < PROGRAM_NCOMMANDS; i++) printf(i > 0 ? " %s" : "%s", program_commands[i].name);
  printf("'\n_scr_chapters='");
  for (i = 0; manual_chapters[i].name != NULL; i++) printf(i > 0 ? " %s" : "%s", manual_chapters[i].name);
  printf("'\n%s", program_completion);
  return 0;
}

int main(int argc, char** argv)
{
  const char* name = argc > 0 ? tool_name(argv[0]) : "scr";
  int         i = strncmp(name, "scr_", 4) == 0 ? program_find(name) : -1;

  scr_keep_standard();
  if (i >= 0) return program_run(i, argc, argv);
  if (argc < 2) {
    program_print_help(stderr);
    return 1;
  }
  if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return program_help(argc - 1, argv + 1);
  if (strcmp(argv[1], "--version") == 0) return printf("scr %s\n", SCR_VERSION) < 0;
  if (strcmp(argv[1], "completion") == 0) return program_complete(argc - 1, argv + 1);
  if (strcmp(argv[1], "explain") == 0) return explain_main(argc - 1, argv + 1);
  if ((i = program_find(argv[1])) < 0) return program_refuse(argv[1]);
  return program_run(i, argc - 1, argv + 1);
}
