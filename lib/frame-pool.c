/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "frame-pool.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "openvswitch/vlog.h"
#include "ovs-thread.h"

VLOG_DEFINE_THIS_MODULE(frame_pool);

/* A thread's free frames of one zone, and its part of the count of those
 * that OVS holds.  Only its thread touches it while the zone has a user or a
 * frame that is out. */
OVS_ALIGNED_STRUCT(CACHE_LINE_SIZE, frame_cache) {
    atomic_uint32_t n;                  /* Of 'indexes'; others read it. */
    atomic_int64_t held;                /* Handed up minus given back. */
    struct ovs_list node;               /* In zone's 'caches'. */
    uint32_t indexes[2 * FRAME_SLAB];
};

/* All zones.  The structs stay for ever, so that a thread which gives back
 * the last frame of a zone may still look at it afterwards. */
static struct frame_zone zones[FRAME_N_ZONES];

/* Serialises joining, leaving and destroying zones. */
static struct ovs_mutex zones_mutex = OVS_MUTEX_INITIALIZER;

static pthread_key_t caches_key;
static __thread struct frame_cache *caches[FRAME_N_ZONES];

/* Reads what one thread writes and any may look at. */
static uint32_t
load32(const atomic_uint32_t *p)
{
    uint32_t value;

    atomic_read_relaxed(CONST_CAST(atomic_uint32_t *, p), &value);
    return value;
}

/* Thread caches. */

/* Returns the frames of an exiting thread to their zones. */
static void
caches_destroy(void *thread_caches)
{
    struct frame_cache **cachep = thread_caches;

    for (size_t i = 0; i < FRAME_N_ZONES; i++) {
        struct frame_cache *cache = cachep[i];
        struct frame_zone *zone = &zones[i];
        int64_t held;
        uint32_t n;

        if (!cache) {
            continue;
        }
        ovs_mutex_lock(&zone->mutex);
        n = load32(&cache->n);
        if (n) {                /* Else the zone may have no list. */
            memcpy(&zone->list[zone->n_list], cache->indexes,
                   n * sizeof *cache->indexes);
            zone->n_list += n;
        }
        atomic_read_relaxed(&cache->held, &held);
        zone->held_retired += held;
        ovs_list_remove(&cache->node);
        ovs_mutex_unlock(&zone->mutex);
        free_cacheline(cache);
        cachep[i] = NULL;
    }
}

static struct frame_cache *
cache_create(struct frame_zone *zone)
{
    struct frame_cache *cache = xzalloc_cacheline(sizeof *cache);

    ovs_mutex_lock(&zone->mutex);
    ovs_list_push_back(&zone->caches, &cache->node);
    ovs_mutex_unlock(&zone->mutex);
    caches[zone->id] = cache;
    pthread_setspecific(caches_key, caches);
    return cache;
}

static inline struct frame_cache *
cache_get(struct frame_zone *zone)
{
    struct frame_cache *cache = caches[zone->id];

    return OVS_LIKELY(cache) ? cache : cache_create(zone);
}

static int64_t
zone_get_held(struct frame_zone *zone)
    OVS_REQUIRES(zone->mutex)
{
    int64_t sum = zone->held_retired;
    struct frame_cache *cache;

    LIST_FOR_EACH (cache, node, &zone->caches) {
        int64_t held;

        atomic_read_explicit(&cache->held, &held, memory_order_acquire);
        sum += held;
    }
    return sum;
}

/* Looks how many frames of 'zone' OVS holds. */
static bool
zone_look(struct frame_zone *zone)
    OVS_REQUIRES(zone->mutex)
{
    bool crowded = zone_get_held(zone) > zone->n_frames / FRAME_ZONE_HELD;

    zone->n_until_look = FRAME_SLABS_PER_LOOK;
    atomic_store_relaxed(&zone->crowded, crowded);
    return crowded;
}

/* frame_zone_is_crowded() as of now.  Any thread. */
bool
frame_zone_look(struct frame_zone *zone)
{
    bool crowded;

    ovs_mutex_lock(&zone->mutex);
    crowded = zone_look(zone);
    ovs_mutex_unlock(&zone->mutex);
    return crowded;
}

/* Fills the empty 'cache' with up to a slab.  Returns how many it got. */
static uint32_t
cache_refill(struct frame_zone *zone, struct frame_cache *cache)
{
    uint32_t n;

    ovs_mutex_lock(&zone->mutex);
    n = MIN(zone->n_list, FRAME_SLAB);
    zone->n_list -= n;
    memcpy(cache->indexes, &zone->list[zone->n_list],
           n * sizeof *cache->indexes);
    atomic_store_relaxed(&cache->n, n);
    /* Frames that are held do not come back to the caches: what they were
     * taken for takes further slabs, so this is where it shows. */
    if (!--zone->n_until_look) {
        zone_look(zone);
    }
    ovs_mutex_unlock(&zone->mutex);
    return n;
}

/* Moves a slab of the full 'cache' to the shared list: its older half, since
 * the younger one is still warm. */
static uint32_t
cache_spill(struct frame_zone *zone, struct frame_cache *cache)
{
    size_t slab = FRAME_SLAB * sizeof *cache->indexes;

    ovs_mutex_lock(&zone->mutex);
    /* More free frames than frames: one was freed twice. */
    ovs_assert(zone->n_list + FRAME_SLAB <= zone->n_frames);
    memcpy(&zone->list[zone->n_list], cache->indexes, slab);
    zone->n_list += FRAME_SLAB;
    memcpy(cache->indexes, &cache->indexes[FRAME_SLAB], slab);
    atomic_store_relaxed(&cache->n, FRAME_SLAB);
    ovs_mutex_unlock(&zone->mutex);
    return FRAME_SLAB;
}

/* Takes up to 'n' free frames of 'zone' into 'indexes'.  Returns how many
 * there were.  Any thread. */
uint32_t
frame_alloc(struct frame_zone *zone, uint32_t *indexes, uint32_t n)
{
    struct frame_cache *cache = cache_get(zone);
    uint32_t have = load32(&cache->n);
    uint32_t got = 0;

    while (got < n) {
        uint32_t k;

        if (!have) {
            have = cache_refill(zone, cache);
            if (!have) {
                break;
            }
        }
        k = MIN(have, n - got);
        have -= k;
        memcpy(&indexes[got], &cache->indexes[have], k * sizeof *indexes);
        got += k;
    }
    atomic_store_relaxed(&cache->n, have);
    return got;
}

/* Gives 'n' frames back.  Any thread. */
void
frame_free(struct frame_zone *zone, const uint32_t *indexes, uint32_t n)
{
    struct frame_cache *cache = cache_get(zone);
    uint32_t have = load32(&cache->n);

    while (n) {
        uint32_t k;

        if (have == 2 * FRAME_SLAB) {
            have = cache_spill(zone, cache);
        }
        k = MIN(n, 2 * FRAME_SLAB - have);
        memcpy(&cache->indexes[have], indexes, k * sizeof *indexes);
        have += k;
        indexes += k;
        n -= k;
    }
    atomic_store_relaxed(&cache->n, have);
}

/* Counts 'delta' more frames (fewer where negative) as held by OVS.  The
 * caller has done with them what else there is to do.  Any thread. */
void
frame_count_held(struct frame_zone *zone, int delta)
{
    struct frame_cache *cache = cache_get(zone);
    int64_t held;

    atomic_read_relaxed(&cache->held, &held);
    atomic_store_explicit(&cache->held, held + delta, memory_order_release);
}

/* Packets. */

/* Returns the frame of 'packet', for which OVS has called us back. */
static struct frame *
own_frame(const struct dp_packet *packet)
{
    return CONTAINER_OF(packet, struct frame, xpacket.packet);
}

static bool
packet_is_in_frame(const struct dp_packet *packet,
                   const struct frame_zone *zone, uint32_t index)
{
    return dp_packet_base(packet) == frame_base(zone, index);
}

/* Called by dp_packet_resize() when the data of 'packet' has been copied to a
 * new base: releases the old one, unless it is the frame itself, which stays
 * with the packet until that is freed. */
static void
frame_packet_release_base(struct dp_packet *packet)
{
    struct frame *frame = own_frame(packet);

    if (!packet_is_in_frame(packet, frame_zone(frame), frame->index)) {
        free(dp_packet_base(packet));
    }
}

static void zone_destroy_orphan(struct frame_zone *);

/* OVS's way to free a packet in a frame.  Any thread. */
void
frame_packet_free(struct dp_packet *packet)
{
    struct frame *frame = own_frame(packet);
    struct frame_zone *zone = frame_zone(frame);
    uint32_t index = frame->index;
    bool orphan;

    frame_packet_release_base(packet);
    frame_move(frame, FRAME_HELD, FRAME_FREE);
    frame_free(zone, &index, 1);
    frame_count_held(zone, -1);
    atomic_read(&zone->orphan, &orphan);
    if (OVS_UNLIKELY(orphan)) {
        zone_destroy_orphan(zone);
    }
}

/* Debug builds: notes that 'frame' goes from 'from' to 'to', and that it is
 * in 'from'.  The message has their numbers: the even ones from 2 on are
 * users' receiving halves, the odd ones their sending halves. */
void
frame_check_move(struct frame *frame, frame_place from, frame_place to)
{
    frame_place was;

    was = __atomic_exchange_n(&frame->place, to, __ATOMIC_ACQ_REL);
    if (was != from) {
        VLOG_ABORT("zone %"PRIu32", frame %"PRIu32": goes from place %d to "
                   "%d, but it is in %d (%d: free, %d: held by OVS)",
                   frame_zone(frame)->id, frame->index, from, to, was,
                   FRAME_FREE, FRAME_HELD);
    }
}

/* Zones. */

static bool
zone_exists(const struct frame_zone *zone)
{
    return zone->frames != NULL;
}

static void
zones_init(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;

    if (ovsthread_once_start(&once)) {
        xpthread_key_create(&caches_key, caches_destroy);
        for (size_t i = 0; i < FRAME_N_ZONES; i++) {
            struct frame_zone *zone = &zones[i];

            zone->id = i;
            zone->hook.free_cb = frame_packet_free;
            zone->hook.base_cb = frame_packet_release_base;
            atomic_init(&zone->orphan, false);
            ovs_mutex_init(&zone->mutex);
            ovs_list_init(&zone->caches);
            ovs_list_init(&zone->users);
        }
        ovsthread_once_done(&once);
    }
}

/* Huge pages for the packets' metadata too: it is touched as often as the
 * frames, and a dp_packet takes a sixth of a small page. */
static struct frame *
frames_create(struct frame_zone *zone, uint32_t n_frames)
{
    size_t size = n_frames * sizeof(struct frame);
    struct frame *frames;

    frames = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (frames == MAP_FAILED) {
        return NULL;
    }
    madvise(frames, size, MADV_HUGEPAGE);
    frame_memory_prefer_node(frames, size, zone->numa_node);
    for (uint32_t i = 0; i < n_frames; i++) {
        struct frame *frame = &frames[i];

        frame->index = i;
        frame->xpacket.mpool = &zone->hook;
        dp_packet_use_afxdp(&frame->xpacket.packet,
                            frame_base(zone, i) + FRAME_RX_OFFSET,
                            FRAME_SIZE, FRAME_RX_OFFSET);
    }
    return frames;
}

/* Makes the unused slot 'zone' a zone of 'n_frames'. */
static int
zone_create(struct frame_zone *zone, uint32_t n_frames, int numa_node)
{
    int error = frame_memory_map((size_t) n_frames << FRAME_SHIFT, numa_node,
                                 &zone->memory);

    if (error) {
        return error;
    }
    zone->numa_node = numa_node;
    zone->frames = frames_create(zone, n_frames);
    if (!zone->frames) {
        frame_memory_unmap(&zone->memory);
        return ENOMEM;
    }
    zone->n_frames = n_frames;
    ovs_mutex_lock(&zone->mutex);
    zone->list = xmalloc(n_frames * sizeof *zone->list);
    zone->n_list = n_frames;
    for (uint32_t i = 0; i < n_frames; i++) {
        zone->list[i] = n_frames - 1 - i;
    }
    zone->held_retired = 0;
    zone->n_reserved = 0;
    zone->n_until_look = FRAME_SLABS_PER_LOOK;
    atomic_store_relaxed(&zone->crowded, false);
    ovs_mutex_unlock(&zone->mutex);
    VLOG_DBG("zone %"PRIu32": %"PRIu32" frames of %s on node %d", zone->id,
             n_frames, frame_memory_kind_to_string(zone->memory.kind),
             numa_node);
    return 0;
}

/* Destroys 'zone' if nobody uses it and all its frames are home; otherwise
 * the thread that brings the last one home will. */
static void
zone_destroy_if_unused(struct frame_zone *zone)
    OVS_REQUIRES(zones_mutex)
{
    struct frame_cache *cache;
    bool unused;

    ovs_mutex_lock(&zone->mutex);
    unused = (zone_exists(zone) && ovs_list_is_empty(&zone->users)
              && !zone_get_held(zone));
    if (unused) {
        /* No frame is out and none can be taken: no thread touches its cache
         * until it hears of the next zone in this slot. */
        LIST_FOR_EACH (cache, node, &zone->caches) {
            atomic_store_relaxed(&cache->n, 0);
            atomic_store_relaxed(&cache->held, 0);
        }
        free(zone->list);
        zone->list = NULL;
        zone->n_list = 0;
    }
    ovs_mutex_unlock(&zone->mutex);

    if (unused) {
        atomic_store(&zone->orphan, false);
        munmap(zone->frames, zone->n_frames * sizeof *zone->frames);
        zone->frames = NULL;
        frame_memory_unmap(&zone->memory);
        VLOG_DBG("zone %"PRIu32": gone", zone->id);
    }
}

static void
zone_destroy_orphan(struct frame_zone *zone)
{
    bool orphan;

    ovs_mutex_lock(&zones_mutex);
    atomic_read(&zone->orphan, &orphan);
    if (orphan) {
        zone_destroy_if_unused(zone);
    }
    ovs_mutex_unlock(&zones_mutex);
}

/* Destroys the zones that have lost their last frame unnoticed:
 * frame_packet_free() has no full barrier between the count of the frame and
 * the look at 'orphan', since that would cost every packet. */
static void
zones_sweep(void)
    OVS_REQUIRES(zones_mutex)
{
    for (struct frame_zone *zone = zones; zone < &zones[FRAME_N_ZONES];
         zone++) {
        zone_destroy_if_unused(zone);
    }
}

/* What of a zone of 'n_frames' may be reserved when 'n_caches' threads keep
 * free frames of it for themselves. */
static uint32_t
zone_capacity(uint32_t n_frames, size_t n_caches)
{
    size_t slack = MAX(n_frames / FRAME_ZONE_SLACK, n_caches * 2 * FRAME_SLAB);

    return n_frames - MIN(n_frames, slack);
}

/* Returns a zone on 'numa_node' that has 'n_reserved' frames to promise. */
static struct frame_zone *
zone_find(uint32_t n_reserved, int numa_node)
    OVS_REQUIRES(zones_mutex)
{
    for (struct frame_zone *zone = zones; zone < &zones[FRAME_N_ZONES];
         zone++) {
        uint32_t taken, capacity;

        if (zone_exists(zone) && zone->numa_node == numa_node) {
            ovs_mutex_lock(&zone->mutex);
            taken = zone->n_reserved;
            capacity = zone_capacity(zone->n_frames,
                                     ovs_list_size(&zone->caches));
            ovs_mutex_unlock(&zone->mutex);
            if (taken + n_reserved <= capacity) {
                return zone;
            }
        }
    }
    return NULL;
}

/* Makes a zone on 'numa_node': as large as all those there are together, so
 * that few ports stay small and many stay in few zones; smaller when memory
 * is short.  Returns 0 or a positive errno. */
static int
zone_grow(uint32_t n_reserved, int numa_node, struct frame_zone **zonep)
    OVS_REQUIRES(zones_mutex)
{
    struct frame_zone *free_slot = NULL;
    uint32_t n_frames = 0;
    int error = ENOSPC;

    for (struct frame_zone *zone = zones; zone < &zones[FRAME_N_ZONES];
         zone++) {
        if (!zone_exists(zone)) {
            free_slot = free_slot ? free_slot : zone;
        } else if (zone->numa_node == numa_node) {
            n_frames += zone->n_frames;
        }
    }
    n_frames = MIN(MAX(n_frames, FRAME_ZONE_MIN), FRAME_ZONE_MAX);
    while (zone_capacity(n_frames, 0) < n_reserved
           && n_frames < FRAME_ZONE_MAX) {
        n_frames = MIN(2 * n_frames, FRAME_ZONE_MAX);
    }
    while (free_slot && zone_capacity(n_frames, 0) >= n_reserved) {
        error = zone_create(free_slot, n_frames, numa_node);
        if (error != ENOMEM) {
            break;
        }
        n_frames /= 2;
    }
    *zonep = error ? NULL : free_slot;
    return error;
}

/* Gives 'user' places that no other user of 'zone' has. */
static void
choose_places(struct frame_zone *zone, struct frame_user *user)
    OVS_REQUIRES(zone->mutex)
{
    const struct frame_user *other;
    bool taken;

    user->rx_place = FRAME_N_COMMON_PLACES;
    do {
        taken = false;
        LIST_FOR_EACH (other, node, &zone->users) {
            taken = taken || other->rx_place == user->rx_place;
        }
        user->rx_place += taken ? 2 : 0;
    } while (taken);
    user->tx_place = user->rx_place + 1;
}

/* Makes 'user' a user of a zone near 'numa_node' (a non-negative number) that
 * can promise it 'n_reserved' frames, and returns that zone.  Makes a new
 * zone where needed.  Returns NULL and sets errno when there is no memory
 * (ENOMEM), no room in the largest zone that there may be, or no slot for a
 * further zone (ENOSPC).  Main thread. */
struct frame_zone *
frame_zone_join(struct frame_user *user, uint32_t n_reserved, int numa_node)
{
    struct frame_zone *zone;
    int error = 0;

    zones_init();
    ovs_mutex_lock(&zones_mutex);
    zones_sweep();
    zone = zone_find(n_reserved, numa_node);
    if (!zone) {
        error = zone_grow(n_reserved, numa_node, &zone);
    }
    if (zone) {
        user->n_reserved = n_reserved;
        atomic_init(&user->n_rx, 0);
        atomic_init(&user->n_tx, 0);
        atomic_init(&user->n_left, 0);
        ovs_mutex_lock(&zone->mutex);
        zone->n_reserved += n_reserved;
        choose_places(zone, user);
        ovs_list_push_back(&zone->users, &user->node);
        ovs_mutex_unlock(&zone->mutex);
        atomic_store(&zone->orphan, false);
    }
    ovs_mutex_unlock(&zones_mutex);
    errno = error;
    return zone;
}

/* Frees the frames that are with 'user': its rings are gone.  Main thread. */
void
frame_zone_reclaim(struct frame_zone *zone, const struct frame_user *user)
{
    for (uint32_t i = 0; i < zone->n_frames; i++) {
        struct frame *frame = frame_at(zone, i);
        frame_place place = __atomic_load_n(&frame->place, __ATOMIC_RELAXED);

        if (place == user->rx_place || place == user->tx_place) {
            frame_move(frame, place, FRAME_FREE);
            frame_free(zone, &i, 1);
        }
    }
}

/* Ends 'user''s use of 'zone'; its rings hold no frame any more.  The zone
 * goes with its last user and its last frame.  Main thread. */
void
frame_zone_leave(struct frame_zone *zone, struct frame_user *user)
{
    bool last;

    ovs_mutex_lock(&zones_mutex);
    ovs_mutex_lock(&zone->mutex);
    ovs_list_remove(&user->node);
    zone->n_reserved -= user->n_reserved;
    last = ovs_list_is_empty(&zone->users);
    ovs_mutex_unlock(&zone->mutex);
    if (last) {
        atomic_store(&zone->orphan, true);
        zone_destroy_if_unused(zone);
    }
    ovs_mutex_unlock(&zones_mutex);
}

/* Returns the zone after 'zone', the first one for NULL, NULL at the end.
 * The zone may go as soon as it has no users.  Main thread. */
struct frame_zone *
frame_zone_next(const struct frame_zone *zone)
{
    struct frame_zone *next = zone ? &zones[zone->id + 1] : zones;

    ovs_mutex_lock(&zones_mutex);
    while (next < &zones[FRAME_N_ZONES] && !zone_exists(next)) {
        next++;
    }
    ovs_mutex_unlock(&zones_mutex);
    return next < &zones[FRAME_N_ZONES] ? next : NULL;
}

/* Fills '*usage' with where the frames of 'zone' are.  While traffic runs
 * the parts are read one after the other and need not add up.  A zone that
 * has gone meanwhile has no frames.  Main thread. */
void
frame_zone_get_usage(struct frame_zone *zone, struct frame_usage *usage)
{
    struct frame_cache *cache;
    struct frame_user *user;

    memset(usage, 0, sizeof *usage);
    ovs_mutex_lock(&zone->mutex);
    usage->total = zone->list ? zone->n_frames : 0;
    usage->reserved = zone->n_reserved;
    usage->list = zone->n_list;
    usage->held = zone_get_held(zone);
    LIST_FOR_EACH (cache, node, &zone->caches) {
        usage->caches += load32(&cache->n);
    }
    LIST_FOR_EACH (user, node, &zone->users) {
        usage->n_users++;
        usage->rx += load32(&user->n_rx);
        usage->tx += load32(&user->n_tx) + load32(&user->n_left);
    }
    ovs_mutex_unlock(&zone->mutex);
}

/* Returns true if 'usage' has a place for every frame. */
bool
frame_usage_is_accounted(const struct frame_usage *u)
{
    return u->list + u->caches + u->rx + u->tx + u->held == u->total;
}
