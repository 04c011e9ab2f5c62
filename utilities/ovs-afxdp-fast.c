/* SPDX-License-Identifier: Apache-2.0 */

/* The commands of ports of type afxdp-fast, over the control socket of the
 * daemon, which does all the work. */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon.h"
#include "dirs.h"
#include "jsonrpc.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/vlog.h"
#include "unixctl.h"
#include "util.h"

/* As the manual page has them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,           /* By the daemon, or the output failed. */
    EXIT_USAGE = 2,
    EXIT_UNREACHABLE = 3,       /* The daemon. */
    EXIT_TIMEOUT = 4,
};

#define DEFAULT_TARGET "ovs-vswitchd"

struct command {
    const char *name;           /* One word, or "prefix" and another. */
    const char *usage;          /* Of its arguments. */
    int min_args, max_args;
    const char *help;
};

static const struct command commands[] = {
    { "prefix check", "PORT FILE [limit=N]", 2, 3,
      "what FILE would change in the prefix table; changes nothing" },
    { "prefix apply", "PORT", 1, 1,
      "read the file of options:prefix-file again" },
    { "prefix add", "PORT ENTRY", 2, 2, "add an entry" },
    { "prefix del", "PORT ENTRY", 2, 2, "delete an entry" },
    { "prefix show", "PORT [PREFIX] [from=N] [limit=N]", 1, 4,
      "the entries, of PREFIX or all, with their hits" },
    { "prefix lookup", "PORT ADDRESS [src=ADDRESS] [vlan=N] [dmac=MAC]", 2, 5,
      "which entry decides, and what becomes of the frame" },
    { "prefix rollback", "PORT", 1, 1,
      "back to the version before, which stays" },
    { "prefix history", "PORT", 1, 1, "the last ten versions" },
    { "show", "[PORT]", 0, 1, "status, queues and counters" },
    { "stats", "[PORT]", 0, 1, "counters, and the targets of redirects" },
    { "doctor", "[PORT]", 0, 1, "what is wrong, and what mends it" },
};

/* The command line. */
static struct {
    const char *target;
    unsigned int timeout;       /* Seconds, 0 for none. */
    bool json;
} opts = { .target = DEFAULT_TARGET };

/* Messages. */

static void
put_error_object(const char *error, struct ds *ds)
{
    struct json *object = json_object_create();

    json_object_put_string(object, "error", error);
    json_to_ds(object, JSSF_SORT, ds);
    ds_put_char(ds, '\n');
    json_destroy(object);
}

/* Ends the program.  The message goes to stderr, or with --json, in an object,
 * to stdout, where whoever parses the answers looks for it. */
OVS_NO_RETURN static void OVS_PRINTF_FORMAT(2, 3)
die(enum exit_code code, const char *format, ...)
{
    va_list args;
    char *message;

    va_start(args, format);
    message = xvasprintf(format, args);
    va_end(args);
    if (opts.json) {
        struct ds ds = DS_EMPTY_INITIALIZER;

        put_error_object(message, &ds);
        fputs(ds_cstr(&ds), stdout);
        fflush(stdout);
    } else {
        fprintf(stderr, "%s: %s\n", program_name, message);
    }
    exit(code);
}

static void
usage(void)
{
    printf("usage: %s [OPTION]... COMMAND [ARGUMENT]...\n"
           "Shows ports of type afxdp-fast, and shows and changes their "
           "prefix tables.\n\nCommands:\n", program_name);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        printf("  %s %s\n      %s\n", commands[i].name, commands[i].usage,
               commands[i].help);
    }
    printf("\nENTRY is PREFIX=ACTION[:PORT][,WORD]..., for \"prefix del\" "
           "PREFIX is enough.\n"
           "\nOptions, anywhere among the arguments:\n"
           "  -j, --json            one JSON object instead of text\n"
           "  -t, --target=TARGET   pid file's name, or socket, of the daemon "
           "(%s)\n"
           "  -T, --timeout=SECS    wait at most SECS seconds (for ever)\n"
           "  -h, --help            this text\n"
           "  -V, --version         the version of OVS that this is built "
           "with\n"
           "\nExit status: %d done, %d refused by the daemon, %d wrong usage, "
           "%d daemon not\nreached, %d timeout.\n", DEFAULT_TARGET, EXIT_DONE,
           EXIT_REFUSED, EXIT_USAGE, EXIT_UNREACHABLE, EXIT_TIMEOUT);
}

/* The command line. */

/* Whether errors are to be JSON must be known before the first one. */
static bool
has_json_option(int argc, char *argv[])
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], "--json") || !strcmp(argv[i], "-j")) {
            return true;
        }
    }
    return false;
}

static void
set_timeout(const char *option, const char *value)
{
    if (!value[0] || value[strspn(value, "0123456789")] != '\0'
        || !str_to_uint(value, 10, &opts.timeout) || !opts.timeout) {
        die(EXIT_USAGE, "%s=%s: must be a whole number of seconds from 1 on",
            option, value);
    }
}

/* Ends the program: getopt_long() does not know the option in 'arg', in which
 * letters may stand together. */
OVS_NO_RETURN static void
die_no_option(const char *arg)
{
    const char letter[] = { '-', optopt, '\0' };

    die(EXIT_USAGE, "%s: no such option; allowed are --json, "
        "--target=TARGET, --timeout=SECS, --help and --version",
        strncmp(arg, "--", 2) && optopt ? letter : arg);
}

/* Returns the index of the first argument that is no option: getopt_long()
 * has moved the options before it. */
static int
parse_options(int argc, char *argv[])
{
    static const struct option options[] = {
        { "json", no_argument, NULL, 'j' },
        { "target", required_argument, NULL, 't' },
        { "timeout", required_argument, NULL, 'T' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    const char *timeout = getenv("OVS_CTL_TIMEOUT");
    int c;

    opts.json = has_json_option(argc, argv);
    if (timeout && timeout[0]) {
        set_timeout("OVS_CTL_TIMEOUT", timeout);
    }
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":jt:T:hV", options, NULL)) != -1) {
        switch (c) {
        case 'j':
            opts.json = true;
            break;
        case 't':
            opts.target = optarg;
            break;
        case 'T':
            set_timeout("--timeout", optarg);
            break;
        case 'h':
            usage();
            exit(EXIT_DONE);
        case 'V':
            ovs_print_version(0, 0);
            exit(EXIT_DONE);
        case ':':
            die(EXIT_USAGE, "%s: needs a value", argv[optind - 1]);
        default:
            die_no_option(argv[optind - 1]);
        }
    }
    return optind;
}

/* Ends the program: no command is called 'name'. */
OVS_NO_RETURN static void
die_no_command(const char *name)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        ds_put_format(&ds, "%s%s", i ? ", " : "", commands[i].name);
    }
    die(EXIT_USAGE, "%s; allowed are: %s", name, ds_cstr(&ds));
}

/* Finds the command that 'args', which end with NULL, begin with.  Stores how
 * many of them are its name in '*n_words'. */
static const struct command *
find_command(char **args, int *n_words)
{
    char *name;

    if (!args[0]) {
        die_no_command("no command");
    }
    *n_words = !strcmp(args[0], "prefix") && args[1] ? 2 : 1;
    name = xasprintf("%s%s%s", args[0], *n_words > 1 ? " " : "",
                     *n_words > 1 ? args[1] : "");
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (!strcmp(commands[i].name, name)) {
            free(name);
            return &commands[i];
        }
    }
    die_no_command(xasprintf("%s: no such command", name));
}

/* The daemon. */

/* What the signal handler says: made beforehand, since little is allowed in
 * it. */
static struct ds timeout_message = DS_EMPTY_INITIALIZER;
static int timeout_fd;

static void
handle_timeout(int sig OVS_UNUSED)
{
    ssize_t n OVS_UNUSED = write(timeout_fd, timeout_message.string,
                                 timeout_message.length);

    _exit(EXIT_TIMEOUT);
}

/* Set before OVS's libraries see the signal, which leave handlers alone. */
static void
start_timeout(void)
{
    char *message;

    if (!opts.timeout) {
        return;
    }
    message = xasprintf("%s: no answer within %u s", opts.target,
                        opts.timeout);
    if (opts.json) {
        put_error_object(message, &timeout_message);
        timeout_fd = STDOUT_FILENO;
    } else {
        ds_put_format(&timeout_message, "%s: %s\n", program_name, message);
        timeout_fd = STDERR_FILENO;
    }
    free(message);
    signal(SIGALRM, handle_timeout);
    alarm(opts.timeout);
}

static struct jsonrpc *
connect_to_daemon(void)
{
    struct jsonrpc *client;
    char *path;
    int error;

    if (opts.target[0] == '/') {
        path = xstrdup(opts.target);
    } else {
        char *pidfile = xasprintf("%s/%s.pid", ovs_rundir(), opts.target);
        pid_t pid = read_pidfile(pidfile);

        if (pid < 0) {
            die(EXIT_UNREACHABLE, "%s: %s; is the daemon running?", pidfile,
                ovs_strerror(-pid));
        }
        free(pidfile);
        path = xasprintf("%s/%s.%ld.ctl", ovs_rundir(), opts.target,
                         (long int) pid);
    }
    error = unixctl_client_create(path, &client);
    if (error) {
        die(EXIT_UNREACHABLE, "%s: cannot connect: %s", path,
            ovs_strerror(error));
    }
    free(path);
    return client;
}

/* The daemon's name of 'command'. */
static char *
make_method(const struct command *command)
{
    char *method = xasprintf("afxdp-fast/%s", command->name);
    char *blank = strchr(method, ' ');

    if (blank) {
        *blank = '-';
    }
    return method;
}

/* The arguments that the daemon gets.  It runs in another folder. */
static struct json *
make_params(const struct command *command, char **args)
{
    bool has_file = !strcmp(command->name, "prefix check");
    struct json *params = json_array_create_empty();

    if (opts.json) {
        json_array_add(params, json_string_create("--json"));
    }
    for (int i = 0; args[i]; i++) {
        json_array_add(params, (has_file && i == 1
                                ? json_string_create_nocopy(
                                    abs_file_name(NULL, args[i]))
                                : json_string_create(args[i])));
    }
    return params;
}

/* Asks the daemon, and returns its answer, which has a result or an error. */
static struct jsonrpc_msg *
ask(const struct command *command, char **args)
{
    struct jsonrpc *client = connect_to_daemon();
    char *method = make_method(command);
    struct jsonrpc_msg *reply;
    int error;

    error = jsonrpc_transact_block(
        client, jsonrpc_create_request(method, make_params(command, args),
                                       NULL), &reply);
    if (error) {
        die(EXIT_UNREACHABLE, "%s: no answer: %s", opts.target,
            error == EOF ? "the connection ended" : ovs_strerror(error));
    }
    alarm(0);
    free(method);
    jsonrpc_close(client);
    return reply;
}

/* The answer. */

/* Whatever the target is, what it says is shown. */
static char *
answer_to_text(const struct json *answer)
{
    return (answer->type == JSON_STRING ? xstrdup(json_string(answer))
            : json_to_string(answer, JSSF_SORT));
}

static void
put_text(FILE *stream, const char *text)
{
    size_t len = strlen(text);

    fputs(text, stream);
    if (!len || text[len - 1] != '\n') {
        putc('\n', stream);
    }
}

static bool
is_object(const char *text)
{
    struct json *json = text[0] == '{' ? json_from_string(text) : NULL;
    bool is = json && json->type == JSON_OBJECT;

    json_destroy(json);
    return is;
}

/* Some errors are those of OVS's control socket, which knows no --json. */
static void
put_error(const char *error)
{
    if (opts.json && !is_object(error)) {
        int len = strlen(error);

        die(EXIT_REFUSED, "%.*s", len - (len && error[len - 1] == '\n'),
            error);
    }
    put_text(opts.json ? stdout : stderr, error);
}

/* Returns false if what was written did not arrive. */
static bool
flush_output(void)
{
    if (ferror(stdout) || fflush(stdout)) {
        fprintf(stderr, "%s: stdout: %s\n", program_name,
                ovs_strerror(errno));
        return false;
    }
    return true;
}

int
main(int argc, char *argv[])
{
    const struct command *command;
    struct jsonrpc_msg *reply;
    enum exit_code code;
    char *text;
    int first, n_words, n_args;

    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    first = parse_options(argc, argv);
    command = find_command(&argv[first], &n_words);
    n_args = argc - first - n_words;
    if (n_args < command->min_args || n_args > command->max_args) {
        die(EXIT_USAGE, "%s: %s; its arguments are: %s", command->name,
            (n_args < command->min_args ? "an argument is missing"
             : "too many arguments"), command->usage);
    }
    start_timeout();
    reply = ask(command, &argv[first + n_words]);
    text = answer_to_text(reply->error ? reply->error : reply->result);
    code = reply->error ? EXIT_REFUSED : EXIT_DONE;
    if (reply->error) {
        put_error(text);
    } else {
        put_text(stdout, text);
    }
    free(text);
    jsonrpc_msg_destroy(reply);
    return flush_output() ? code : EXIT_REFUSED;
}
