/* SPDX-License-Identifier: Apache-2.0 */

/* The control socket, XSK_SIM_CONTROL: one command a connection, a line of
 * words; the answer is JSON or "error: ...".  See xsk-simctl. */

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nic.h"
#include "real.h"
#include "socket.h"
#include "traffic.h"

#define MAX_WORDS 32

/* set KEY=VALUE... */
static void
do_set(char **words, FILE *reply)
{
    char *error;

    nic_pause();
    error = shape_set(words);
    nic_resume();
    if (error) {
        fprintf(reply, "error: %s\n", error);
        free(error);
    } else {
        fprintf(reply, "{\"simulation\": true}\n");
    }
}

/* Returns true if a socket's device matches the pattern. */
static bool
matches_any(const char *pattern)
{
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        if (sim_sockets[i] && !fnmatch(pattern, sim_sockets[i]->ifname, 0)) {
            return true;
        }
    }
    return false;
}

/* start [DEV...] and stop [DEV...]: DEV is a pattern.  To stop what is not
 * there, or is no more, is no error. */
static void
do_run(bool start, char **words, FILE *reply)
{
    uint32_t n = 0;

    for (char **word = words; start && *word; word++) {
        if (!matches_any(*word)) {
            fprintf(reply, "error: start %s: no socket is bound to such a "
                    "device\n", *word);
            return;
        }
    }
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        struct sim_socket *s = sim_sockets[i];
        bool wanted = !*words;

        if (!s) {
            continue;
        }
        for (char **word = words; *word; word++) {
            wanted = wanted || !fnmatch(*word, s->ifname, 0);
        }
        if (wanted) {
            uint64_t cookie = 0;

            if (start && shape.hints
                && hints_find_cookie(s->ifindex, &cookie)) {
                fprintf(reply, "error: hints=1: %s has no program with a "
                        "cookie\n", s->ifname);
                return;
            }
            nic_pause();
            s->cookie = cookie;
            s->next_ns = nic_now_ns();
            s->running = start;
            nic_resume();
            n++;
        }
    }
    fprintf(reply, "{\"simulation\": true, \"sockets\": %u}\n", n);
}

/* Returns the fault that 'key' names, NULL if none. */
static uint32_t *
find_fault(struct faults *faults, const char *key)
{
#define FIND(NAME)                              \
    if (!strcmp(key, #NAME)) {                  \
        return &faults->NAME;                   \
    }
    SIM_FAULTS(FIND)
#undef FIND
    return NULL;
}

/* Changes 'faults' as "KEY=VALUE" says; without a value it is 1.  Returns
 * false, with the reason in 'reply', if that is wrong. */
static bool
set_fault(struct faults *faults, const char *word, FILE *reply)
{
    char key[32], *end = "";
    size_t len = strcspn(word, "=");
    uint32_t *fault;
    uint64_t value = 1;

    snprintf(key, sizeof key, "%.*s", (int) len, word);
    fault = find_fault(faults, key);
    if (!fault) {
#define NAME_OF(NAME) " " #NAME
        fprintf(reply, "error: fault '%s': allowed are" SIM_FAULTS(NAME_OF)
                "\n", key);
#undef NAME_OF
        return false;
    }
    if (word[len]) {
        value = (isdigit((unsigned char) word[len + 1])
                 ? strtoull(word + len + 1, &end, 10) : UINT64_MAX);
    }
    if (value > UINT32_MAX || *end) {
        fprintf(reply, "error: fault %s: must be a whole number up to %u\n",
                word, UINT32_MAX);
        return false;
    }
    *fault = value;
    return true;
}

/* fault DEV KEY=VALUE...: for the sockets that are bound now. */
static void
do_fault(char **words, FILE *reply)
{
    const char *pattern = *words ? *words++ : "*";
    struct faults unused;

    /* All of it is looked at before anything is changed. */
    for (char **word = words; *word; word++) {
        if (!set_fault(&unused, *word, reply)) {
            return;
        }
    }
    nic_pause();
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        struct sim_socket *s = sim_sockets[i];

        if (s && !fnmatch(pattern, s->ifname, 0)) {
            for (char **word = words; *word; word++) {
                set_fault(&s->faults, *word, reply);
            }
        }
    }
    nic_resume();
    fprintf(reply, "{\"simulation\": true}\n");
}

/* Options of the real socket, as the program has set them. */
static int
socket_option(const struct sim_socket *s, int option)
{
    int value = -1;
    socklen_t len = sizeof value;

    real.getsockopt(s->fd, SOL_SOCKET, option, &value, &len);
    return value;
}

static void
print_socket(const struct sim_socket *s, FILE *reply)
{
    fprintf(reply, "{\"device\": \"%s\", \"queue\": %u, \"entered\": %s",
            s->ifname, s->queue, s->map_id ? "true" : "false");
#define PRINT(NAME) fprintf(reply, ", \"" #NAME "\": %lu", s->n.NAME);
    SIM_COUNTERS(PRINT)
#undef PRINT
    fprintf(reply, ", \"prefer_busy_poll\": %d, \"busy_poll\": %d",
            socket_option(s, SO_PREFER_BUSY_POLL),
            socket_option(s, SO_BUSY_POLL));
    fprintf(reply, ", \"good\": %lu, \"corrupt\": %lu, \"other\": %lu, "
            "\"reordered\": %lu, \"duplicate\": %lu}",
            s->verdict.good, s->verdict.corrupt, s->verdict.other,
            s->verdict.reordered, s->verdict.duplicate);
}

/* stats */
static void
do_stats(FILE *reply)
{
    const char *separator = "";

    fprintf(reply, "{\"simulation\": true, \"sockets\": [");
    nic_pause();
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        if (sim_sockets[i]) {
            fprintf(reply, "%s\n  ", separator);
            print_socket(sim_sockets[i], reply);
            separator = ",";
        }
    }
    nic_resume();
    fprintf(reply, "]}\n");
}

static struct sim_counters
sum_counters(void)
{
    struct sim_counters sum = { 0 };

    sim_lock();
    nic_pause();
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        if (sim_sockets[i]) {
#define ADD(NAME) sum.NAME += sim_sockets[i]->n.NAME;
            SIM_COUNTERS(ADD)
#undef ADD
        }
    }
    nic_resume();
    sim_unlock();
    return sum;
}

/* measure SECONDS: what all sockets together receive and send meanwhile, and
 * the part of the NIC's rounds in which the program had left no frame to
 * receive into or no room in the rx ring.  Where that is near 0, the program
 * was faster than the NIC, and what is measured is the simulator. */
static void
do_measure(char **words, FILE *reply)
{
    double seconds = *words ? strtod(*words, NULL) : 1;
    struct timespec ts = {
        .tv_sec = seconds,
        .tv_nsec = (seconds - (time_t) seconds) * 1e9,
    };
    uint64_t start = nic_now_ns();
    struct sim_counters a = sum_counters(), b;

    nanosleep(&ts, NULL);
    b = sum_counters();
    seconds = (nic_now_ns() - start) / 1e9;
    fprintf(reply, "{\"simulation\": true, \"seconds\": %.3f, "
            "\"rx_mpps\": %.4f, \"tx_mpps\": %.4f, \"tx_calls\": %lu, "
            "\"rx_calls\": %lu, \"blocked\": %.4f}\n", seconds,
            (b.rx_frames - a.rx_frames) / seconds / 1e6,
            (b.tx_frames - a.tx_frames) / seconds / 1e6,
            b.tx_calls - a.tx_calls, b.rx_calls - a.rx_calls,
            (double) (b.rx_rounds_blocked - a.rx_rounds_blocked)
            / (b.rx_rounds > a.rx_rounds ? b.rx_rounds - a.rx_rounds : 1));
}

static void
run_command(char *line, FILE *reply)
{
    char *words[MAX_WORDS + 1], *save = NULL;
    int n = 0;

    for (char *word = strtok_r(line, " \n", &save); word && n < MAX_WORDS;
         word = strtok_r(NULL, " \n", &save)) {
        words[n++] = word;
    }
    words[n] = NULL;
    if (n && !strcmp(words[0], "set")) {
        do_set(words + 1, reply);
    } else if (n && !strcmp(words[0], "start")) {
        do_run(true, words + 1, reply);
    } else if (n && !strcmp(words[0], "stop")) {
        do_run(false, words + 1, reply);
    } else if (n && !strcmp(words[0], "fault")) {
        do_fault(words + 1, reply);
    } else if (n && !strcmp(words[0], "stats")) {
        do_stats(reply);
    } else {
        fprintf(reply, "error: command '%s': allowed are set, start, stop, "
                "fault, stats, measure\n", n ? words[0] : "");
    }
}

/* Everything but a measurement keeps the sockets from coming and going. */
static void
serve_client(int fd)
{
    FILE *stream = fdopen(fd, "r+");
    char line[1024], *reply = NULL;
    size_t size;
    FILE *out;

    if (!stream) {
        close(fd);
        return;
    }
    if (fgets(line, sizeof line, stream)) {
        out = open_memstream(&reply, &size);
        if (!strncmp(line, "measure", 7)) {
            char *words[] = { line[7] == ' ' ? line + 8 : NULL, NULL };

            do_measure(words, out);
        } else {
            sim_lock();
            run_command(line, out);
            sim_unlock();
        }
        fclose(out);
        fputs(reply, stream);
        free(reply);
    }
    fclose(stream);
}

static void *
control_main(void *listener)
{
    pthread_setname_np(pthread_self(), "xsk-sim-control");
    for (;;) {
        int fd = accept4((intptr_t) listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0) {
            serve_client(fd);
        }
    }
    return NULL;
}

/* Listens, and starts the thread that serves. */
void
control_start(void)
{
    const char *path = getenv("XSK_SIM_CONTROL");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    pthread_t thread;
    int fd;

    if (!path) {
        return;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address)
        || listen(fd, 4)) {
        nic_log("%s: %s", path, strerror(errno));
        return;
    }
    pthread_create(&thread, NULL, control_main, (void *) (intptr_t) fd);
}
