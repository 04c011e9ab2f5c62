/* SPDX-License-Identifier: Apache-2.0 */

/* Usage: test-pool [OPERATIONS]
 *
 * The frame pool under random use by four threads, OPERATIONS (ten million)
 * in all.  In phases: after each, all threads stand still, and every frame
 * has to be in its place, by the pool's books, by ours, and in sum. */

#include <config.h>
#include "pool-model.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_WORKERS 4
#define N_ROUNDS 10
#define N_PHASES 10             /* A round. */

/* Two queues fill a zone of the smallest size, so that there are two. */
#define N_RESERVED 6000

struct worker {
    struct model_queue queue;
    pthread_t thread;
    bool retire;                /* Set by the main thread between barriers. */
};

static struct worker workers[N_WORKERS];
static pthread_barrier_t barrier;
static uint64_t n_operations = 10 * 1000 * 1000;

static void *
work(void *worker)
{
    uint64_t n = n_operations / N_WORKERS / N_ROUNDS / N_PHASES;
    struct worker *w = worker;

    do {
        for (uint64_t i = 0; i < n; i++) {
            model_step(&w->queue);
        }
        pthread_barrier_wait(&barrier);         /* All stand still. */
        pthread_barrier_wait(&barrier);         /* All was looked at. */
    } while (!w->retire);
    return NULL;
}

static void
start_thread(pthread_t *thread, void *(*function)(void *), void *aux)
{
    int error = pthread_create(thread, NULL, function, aux);

    if (error) {
        ovs_abort(error, "pthread_create");
    }
}

static void
start_worker(struct worker *w)
{
    w->retire = false;
    model_queue_open(&w->queue, N_RESERVED, 0);
    start_thread(&w->thread, work, w);
}

static void
check_zone(struct frame_zone *zone)
{
    uint32_t n_rx = 0, n_tx = 0, n_users = 0;
    struct frame_usage u;

    for (size_t i = 0; i < N_WORKERS; i++) {
        struct model_queue *q = &workers[i].queue;

        if (q->zone == zone) {
            n_users++;
            n_rx += q->rx.n;
            n_tx += q->tx.n;
        }
    }
    frame_zone_get_usage(zone, &u);
    CHECK_INT(u.list + u.caches + u.rx + u.tx + u.held, u.total);
    CHECK(frame_usage_is_accounted(&u));
    CHECK_INT(u.total, zone->n_frames);
    CHECK_INT(u.reserved, n_users * N_RESERVED);
    CHECK_INT(u.n_users, n_users);
    CHECK_INT(u.rx, n_rx);
    CHECK_INT(u.tx, n_tx);
    CHECK_INT(u.held, model_n_held(zone));
    CHECK_INT(u.list + u.caches, model_n_free(zone));
}

/* Checks every zone.  All threads stand still.  Returns how many there are. */
static size_t
check_zones(void)
{
    struct frame_zone *zone = NULL;
    size_t n = 0;

    while ((zone = frame_zone_next(zone)) != NULL) {
        check_zone(zone);
        n++;
    }
    return n;
}

/* Looks at every zone while threads work, as afxdp-fast/memory does.  Returns
 * how many there are. */
static size_t
look_around(void)
{
    struct frame_zone *zone = NULL;
    size_t n = 0;

    while ((zone = frame_zone_next(zone)) != NULL) {
        struct frame_usage u;

        frame_zone_get_usage(zone, &u);
        CHECK(u.list <= u.total);
        n++;
    }
    return n;
}

/* Frees what is left in the mailbox. */
static void *
empty_mailbox(void *aux OVS_UNUSED)
{
    model_empty_mailbox(UINT32_MAX);
    return NULL;
}

/* One phase.  Afterwards worker 'i' retires and another takes its place; all
 * of them retire if this is the 'last' phase or a check has failed.  Returns
 * true as long as none has. */
static bool
run_phase(size_t i, bool last)
{
    bool ok;

    CHECK_INT(look_around(), 2);
    pthread_barrier_wait(&barrier);
    check_zones();
    ok = !unit_has_failed();
    for (size_t j = 0; j < N_WORKERS; j++) {
        workers[j].retire = last || !ok || j == i;
    }
    pthread_barrier_wait(&barrier);
    for (size_t j = 0; j < N_WORKERS; j++) {
        if (workers[j].retire) {
            pthread_join(workers[j].thread, NULL);
        }
    }
    if (ok && !last) {
        model_queue_close(&workers[i].queue);
        start_worker(&workers[i]);
    }
    return ok;
}

/* Ends a round: the queues go, and the last packets are freed by two threads,
 * after the queues have gone or meanwhile.  No zone may be left. */
static void
end_round(bool meanwhile)
{
    pthread_t threads[2];

    if (!meanwhile) {
        const struct frame_zone *first = frame_zone_next(NULL);
        const struct frame_zone *second = frame_zone_next(first);

        for (size_t i = 0; i < N_WORKERS; i++) {
            model_queue_close(&workers[i].queue);
        }
        /* A zone of which no packet is left has gone with its queues. */
        CHECK_INT(check_zones(),
                  (model_n_held(first) > 0) + (model_n_held(second) > 0));
    }
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        start_thread(&threads[i], empty_mailbox, NULL);
    }
    if (meanwhile) {
        for (size_t i = 0; i < N_WORKERS; i++) {
            model_queue_close(&workers[i].queue);
        }
    }
    for (int i = 0; i < 1000; i++) {
        look_around();
    }
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    if (meanwhile) {
        /* What the last one to close a queue left in the mailbox after both
         * threads had looked. */
        model_empty_mailbox(UINT32_MAX);
    } else {
        CHECK(!frame_zone_next(NULL));
    }
}

static void
random_use(void)
{
    struct frame_zone *zone;
    struct frame_user user;

    pthread_barrier_init(&barrier, NULL, N_WORKERS + 1);
    for (int round = 0; round < N_ROUNDS; round++) {
        model_init();
        for (size_t i = 0; i < N_WORKERS; i++) {
            start_worker(&workers[i]);
        }
        for (int phase = 0; phase < N_PHASES; phase++) {
            if (!run_phase(phase % N_WORKERS, phase == N_PHASES - 1)) {
                return;
            }
        }
        end_round(round % 2);
    }
    zone = frame_zone_join(&user, 1, 0);
    CHECK(zone && !frame_zone_next(zone));
    frame_zone_leave(zone, &user);
    CHECK(!frame_zone_next(NULL));
}

/* A thread leaves most of a slab in its cache. */
static void *
alloc_and_free(void *zone_)
{
    struct frame_zone *zone = zone_;
    uint32_t index;

    CHECK_INT(frame_alloc(zone, &index, 1), 1);
    frame_free(zone, &index, 1);
    return NULL;
}

static void
thread_ends(void)
{
    static uint32_t indexes[FRAME_ZONE_MAX];
    struct frame_user user;
    struct frame_zone *zone = frame_zone_join(&user, 1, 0);
    pthread_t thread;
    uint32_t n;

    for (int i = 0; i < 100; i++) {
        start_thread(&thread, alloc_and_free, zone);
        pthread_join(thread, NULL);
    }
    n = frame_alloc(zone, indexes, FRAME_ZONE_MAX);
    CHECK_INT(n, zone->n_frames);
    frame_free(zone, indexes, n);
    frame_zone_leave(zone, &user);
}

/* Nothing but the pool itself puts the two threads in an order. */
static void *
delete_one(void *packet)
{
    pthread_barrier_wait(&barrier);
    dp_packet_delete(packet);
    return NULL;
}

static void
last_two(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 10; i++) {
        struct frame_user user;
        struct frame_zone *zone = frame_zone_join(&user, 1, 0);
        pthread_t threads[2];
        uint32_t indexes[2];

        CHECK_INT(frame_alloc(zone, indexes, 2), 2);
        frame_count_held(zone, 2);
        for (size_t j = 0; j < 2; j++) {
            frame_move(frame_at(zone, indexes[j]), FRAME_FREE, FRAME_HELD);
        }
        frame_zone_leave(zone, &user);
        for (size_t j = 0; j < 2; j++) {
            start_thread(&threads[j], delete_one,
                         &zone->frames[indexes[j]].xpacket.packet);
        }
        for (size_t j = 0; j < 2; j++) {
            pthread_join(threads[j], NULL);
        }
        CHECK(!frame_zone_next(NULL));
    }
    pthread_barrier_destroy(&barrier);
}

#ifdef AFXDP_FAST_DEBUG
/* Returns the signal that ends a process which runs 'function' on a frame
 * that OVS holds, or 0 if none does. */
static int
signal_of(void (*function)(struct dp_packet *))
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct frame_user user;
        struct frame_zone *zone = frame_zone_join(&user, 1, 0);
        uint32_t index;

        frame_alloc(zone, &index, 1);
        frame_move(frame_at(zone, index), FRAME_FREE, user.rx_place);
        frame_move(frame_at(zone, index), user.rx_place, FRAME_HELD);
        frame_count_held(zone, 1);
        function(&zone->frames[index].xpacket.packet);
        _exit(0);
    }
    ovs_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
free_once(struct dp_packet *packet)
{
    dp_packet_delete(packet);
}

static void
free_twice(struct dp_packet *packet)
{
    dp_packet_delete(packet);
    dp_packet_delete(packet);
}

static void
free_while_sent(struct dp_packet *packet)
{
    struct frame *frame = frame_from_packet(packet);

    frame_move(frame, FRAME_HELD, FRAME_N_COMMON_PLACES);
    dp_packet_delete(packet);
}

static void
two_owners(void)
{
    CHECK_INT(signal_of(free_once), 0);
    CHECK_INT(signal_of(free_twice), SIGABRT);
    CHECK_INT(signal_of(free_while_sent), SIGABRT);
}
#endif

int
main(int argc, char *argv[])
{
    set_program_name(argv[0]);
    if (argc > 1) {
        n_operations = strtoull(argv[1], NULL, 10);
    }
#ifdef AFXDP_FAST_DEBUG
    unit_run("a frame with two owners stops the program", two_owners);
#endif
    unit_run("what a thread has in its cache is there for others when it ends",
             thread_ends);
    unit_run("a zone without queues goes with its last frame", last_two);
    unit_run("the account is right whatever four threads do to frames",
             random_use);
    return unit_exit_status();
}
