/* SPDX-License-Identifier: Apache-2.0 */

/* What the commands of prefix tables answer, with tables that are fakes. */

#include <config.h>
#include "prefix-appctl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "openvswitch/json.h"
#include "openvswitch/poll-loop.h"
#include "prefix-check.h"
#include "util.h"

#include "fake-prefix-table.h"
#include "fake-socket.h"
#include "unit.h"

/* Files. */

static char *path;

static void
write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

/* "LINE FILE" and more, for a command. */
static char *
with_file(const char *line, const char *more)
{
    static char buf[512];

    snprintf(buf, sizeof buf, "%s %s%s", line, path, more);
    return buf;
}

#define FILE_OF(VERSION, ENTRIES) \
    "{\"version\": \"" VERSION "\", \"entries\": [" ENTRIES "]}\n"
#define ENTRY(PREFIX, REST) \
    "{\"prefix\": \"" PREFIX "\", " REST "}"

/* Tests. */

static void
arguments_are_checked(void)
{
    CHECK_REFUSES("prefix-show", "an argument is missing");
    CHECK_REFUSES("prefix-show", "PORT [PREFIX]");
    CHECK_REFUSES("prefix-show --json", "\"error\":");
    CHECK_REFUSES("prefix-add eth0 a b", "too many arguments");
    CHECK_REFUSES("prefix-show eth9",
                  "eth9: no such afxdp-fast port; there are eth0 eth1");
    CHECK_REFUSES("prefix-apply eth9", "there are eth0");
    CHECK_REFUSES("prefix-add eth9 10.0.0.0/8=drop", "there are eth0");
    CHECK_REFUSES("prefix-del eth9 10.0.0.0/8", "there are eth0");
    CHECK_REFUSES("prefix-rollback eth9", "there are eth0");
    CHECK_REFUSES("prefix-history eth9", "there are eth0");
    CHECK_REFUSES("prefix-lookup eth9 10.0.0.1", "there are eth0");
    CHECK_REFUSES("prefix-check eth9 /dev/null", "there are eth0");
    CHECK_REFUSES("prefix-show eth0 limit=-1", "limit=-1: must be a whole");
    CHECK_REFUSES("prefix-show eth0 from=", "from=: must be a whole");
    CHECK_REFUSES("prefix-show eth0 limit=100001", "0 to 100000");
    CHECK_REFUSES("prefix-show eth0 10.0.0.0/8 11.0.0.0/8",
                  "11.0.0.0/8: must be from=N or limit=N");
    CHECK_REFUSES("prefix-show eth0 10.0.0.0/33", "10.0.0.0/33");
    CHECK_REFUSES("prefix-show eth0 from=2097153", "1 to 2097152");
    CHECK_REFUSES("prefix-show eth0 from=0",
                  "from=0: must be a whole number from 1 to");
    CHECK_REFUSES("prefix-show eth0 from=4294967297", "1 to 2097152");
    CHECK_REFUSES("prefix-show eth0 from=2 limit=3 from=2",
                  "from=2: from is there twice; must be there once");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.1 vlan=5 vlan=6",
                  "vlan=6: vlan is there twice");
    CHECK_REFUSES("prefix-check eth0 /none limit=100001", "0 to 100000");
    CHECK_REFUSES("prefix-check eth0 rules.json", "absolute path");
    CHECK_REFUSES("prefix-check eth0 /none limt=3", "must be limit=N");
    CHECK_REFUSES("prefix-check eth0 /none/such", "/none/such");
}

static void
entries_come_and_go(void)
{
    CHECK_SAYS("prefix-add eth0 203.0.113.0/24=redirect:eth1", "entries: 1");
    CHECK_SAYS("prefix-add eth0 10.1.2.3/8=host",
               "notice: 10.1.2.3/8=host: host bits are cleared: 10.0.0.0/8");
    CHECK_SAYS("prefix-add eth0 10.0.0.0/8=drop,vlan=5", "entries: 3");
    CHECK_REFUSES("prefix-add eth0 10.0.0.0/8=flood", "flood");
    CHECK_REFUSES("prefix-add eth0 10.9.0.0/16=redirect:eth9",
                  "there is no afxdp-fast port eth9");
    CHECK_REFUSES("prefix-add eth0 10.9.0.0/16=redirect:eth0",
                  "is the port itself");
    CHECK_SAYS("prefix-show eth0", "10.0.0.0/8=host");
    CHECK_REFUSES("prefix-del eth0 10.0.0.0/8=drop",
                  "the entry is another one: 10.0.0.0/8=host");
    CHECK_REFUSES("prefix-del eth0 10.0.0.0/8=drop,vlan=6", "10.0.0.0/8");
    CHECK_SAYS("prefix-del eth0 10.0.0.0/8,vlan=5", "entries: 2");
    CHECK_SAYS("prefix-del eth0 10.0.0.0/8=host", "entries: 1");
    CHECK_SAYS("prefix-del eth0 203.0.113.0/24", "entries: 0");
    CHECK_SAYS("prefix-show eth1", "version: none");
}

static void
errors_are_objects_too(void)
{
    struct json *json = ASK("prefix-add --json eth0 10.0.0.0/8=flood");

    CHECK(has_text(json, "error", "flood"));
    json_destroy(json);
    json = ASK("prefix-lookup --json eth9 10.0.0.1");
    CHECK(has_text(json, "error", "there are eth0"));
    json_destroy(json);
}

static void
a_file_is_in_force(void)
{
    struct json *json;

    CHECK_REFUSES("prefix-apply eth0", "options:prefix-file is not set");
    CHECK_SAYS("prefix-show eth0",
               "error: options:prefix-file is not set");
    fake_port_set_file("eth0", path);
    write_file(FILE_OF("one", ENTRY("10.0.0.0/8", "\"action\": \"drop\"")));
    CHECK_SAYS("prefix-apply eth0", "version: one\n  source: file");
    CHECK_REFUSES("prefix-add eth0 11.0.0.0/8=drop", "is in force");
    CHECK_REFUSES("prefix-del eth0 10.0.0.0/8", "is in force");
    write_file("{\"version\": \"two\",\n\"entries\": [7]}");
    CHECK_REFUSES("prefix-apply eth0", ":2:");
    CHECK_SAYS("prefix-show eth0", "version: one");
    write_file(FILE_OF("two", ENTRY("11.0.0.0/8", "\"action\": \"drop\"")));
    json = ASK("prefix-apply --json eth0");
    CHECK(has_text(json, "version", "two"));
    CHECK(has_text(json, "source", "file"));
    CHECK_INT(integer(json, "n_entries"), 1);
    json_destroy(json);
    CHECK_SAYS("prefix-rollback eth0", "version: one");
    CHECK_SAYS("prefix-show eth0", "pinned: yes");
    CHECK_REFUSES(with_file("prefix-check eth0", ""),
                  "refused: version \"two\" has been rolled back");
    write_file(FILE_OF("one", ENTRY("12.0.0.0/8", "\"action\": \"drop\"")));
    CHECK_SAYS(with_file("prefix-check eth0", ""),
               "warning: version \"one\" is in force with other entries");
}

static void
history_is_shown(void)
{
    struct json *json;

    CHECK_REFUSES("prefix-rollback eth0", "no version before");
    CHECK_SAYS("prefix-add eth0 10.0.0.0/8=drop", "entries: 1");
    CHECK_SAYS("prefix-add eth0 11.0.0.0/8=drop", "entries: 2");
    CHECK_SAYS("prefix-rollback eth0", "entries: 1");
    CHECK_SAYS("prefix-history eth0", "(in force) (pinned)");
    json = ASK("prefix-history --json eth0");
    CHECK(has_json(json, "history", "\"in_force\":true"));
    CHECK(has_json(json, "history", "\"n_entries\":2"));
    CHECK(has_json(json, "history", "\"source\":\"command\""));
    CHECK(has_json(json, "history", "\"when\":\"20"));
    CHECK(has_json(json, "history", "\"when_ms\":1"));
    json_destroy(json);
}

static void
a_pin_that_is_not_kept_is_told(void)
{
    struct json *json;

    CHECK_SAYS("prefix-add eth0 10.0.0.0/8=drop", "entries: 1");
    CHECK_SAYS("prefix-add eth0 11.0.0.0/8=drop", "entries: 2");
    json = ASK("prefix-rollback --json eth0");
    CHECK_INT(integer(json, "n_entries"), 1);
    CHECK(member(json, "pinned")->type == JSON_TRUE);
    CHECK(member(json, "notice")->type == JSON_NULL);
    json_destroy(json);
    fake_ports_set_pin_error("the disk is full");
    json = ASK("prefix-rollback --json eth0");
    CHECK(has_text(json, "notice", "the disk is full"));
    CHECK(has_text(json, "port", "eth0"));
    json_destroy(json);
    CHECK_SAYS("prefix-rollback eth0", "notice: the disk is full\neth0:\n");
    /* It is the roll-back's only. */
    CHECK_SAYS("prefix-add eth1 10.0.0.0/8=drop", "eth1:\n");
    json = ASK("prefix-del --json eth1 10.0.0.0/8");
    CHECK(member(json, "notice")->type == JSON_NULL);
    json_destroy(json);
    fake_ports_set_pin_error(NULL);
}

static void
hits_are_shown(void)
{
    struct json *json;

    for (int i = 0; i < 20; i++) {
        char *line = xasprintf("prefix-add eth0 10.%d.0.0/16=redirect:eth1",
                               i);

        CHECK_SAYS(line, "entries");
        free(line);
    }
    CHECK_SAYS("prefix-show eth0", "never  10.0.0.0/16=redirect:eth1");
    CHECK_SAYS("prefix-show eth0",
               " 3             300       4.5 s  10.3.0.0/16");
    CHECK_SAYS("prefix-show eth0 limit=2", "shown: 2 of 20 entries; narrow");
    json = ASK("prefix-show --json eth0 10.0.0.0/13 from=2 limit=2");
    CHECK_INT(integer(json, "n_entries"), 20);
    CHECK_INT(integer(json, "n_selected"), 8);
    CHECK_INT(integer(json, "n_shown"), 2);
    CHECK(has_json(json, "entries", "\"prefix\":\"10.1.0.0/16\""));
    CHECK(has_json(json, "entries", "\"prefix\":\"10.2.0.0/16\""));
    CHECK(has_json(json, "entries", "\"last_hit\":\"20"));
    CHECK(has_json(json, "entries", "\"last_hit_ms\":1"));
    CHECK(has_json(json, "entries", "\"packets\":2"));
    json_destroy(json);
    json = ASK("prefix-show --json eth0 10.3.0.0/17");
    CHECK_INT(integer(json, "n_selected"), 0);
    json_destroy(json);
    json = ASK("prefix-show --json eth0 2001:db8::/32");
    CHECK_INT(integer(json, "n_selected"), 0);
    json_destroy(json);
    json = ASK("prefix-show --json eth0 10.3.0.0/16");
    CHECK_INT(integer(json, "n_selected"), 1);
    json_destroy(json);
}

static void
look_ups_say_what_becomes_of_a_frame(void)
{
    struct json *json;

    CHECK_SAYS("prefix-lookup eth0 10.0.0.1", "entry: none");
    CHECK_SAYS("prefix-add eth0 0.0.0.0/0=redirect:eth1", "entries");
    CHECK_SAYS("prefix-add eth0 10.0.0.0/8=redirect:eth2", "entries");
    CHECK_SAYS("prefix-add eth0 10.1.0.0/16=drop,vlan=5", "entries");
    CHECK_SAYS("prefix-add eth0 10.2.0.0/16=host,dmac=02:00:00:00:00:01",
               "entries");
    CHECK_SAYS("prefix-add eth0 2001:db8::/32=redirect:eth1", "entries");
    CHECK_SAYS("prefix-lookup eth0 192.0.2.1",
               "goes to: port eth1, which is ready");
    CHECK_SAYS("prefix-lookup eth0 10.1.0.1",
               "goes to: userspace\n  reason: target eth2 is not ready: "
               "eth2 is down");
    CHECK_SAYS("prefix-lookup eth0 10.1.0.1 vlan=5", "nowhere");
    CHECK_SAYS("prefix-lookup eth0 10.2.0.1 dmac=02:00:00:00:00:01", "host");
    CHECK_SAYS("prefix-lookup eth0 224.0.0.5", "multicast");
    CHECK_SAYS("prefix-lookup eth0 255.255.255.255", "broadcast");
    CHECK_SAYS("prefix-lookup eth0 169.254.1.1", "link-local");
    CHECK_SAYS("prefix-lookup eth0 192.0.2.1 dmac=01:00:5e:00:00:01",
               "group MAC");
    CHECK_SAYS("prefix-lookup eth0 2001:db8::1", "eth1, which is ready");
    CHECK_SAYS("prefix-lookup eth0 2001:db9::1", "entry: none");
    CHECK_SAYS("prefix-add eth0 198.51.100.0/24=drop,src", "entries");
    CHECK_SAYS("prefix-lookup eth0 192.0.2.1", "hint: there are source");
    CHECK_SAYS("prefix-lookup eth0 192.0.2.1 src=198.51.100.9", "nowhere");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.1 src=2001:db8::1",
                  "must be an IPv4 address");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.0/8", "must be an IPv4 or");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.1 vlan=4095", "0 to 4094");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.1 dmac=1:2", "dmac=1:2");
    CHECK_REFUSES("prefix-lookup eth0 10.0.0.1 tag=3", "must be src=");

    json = ASK("prefix-lookup --json eth0 10.1.0.1");
    CHECK(has_text(json, "verdict", "userspace"));
    CHECK(has_text(json, "reason", "eth2 is down"));
    CHECK(has_json(json, "entry", "10.0.0.0/8"));
    CHECK(member(json, "target")->type == JSON_NULL);
    json_destroy(json);
}

static void
a_dry_run_shows_what_would_change(void)
{
    struct json *json;

    CHECK_SAYS("prefix-add eth0 10.0.0.0/8=drop", "entries");
    CHECK_SAYS("prefix-add eth0 11.0.0.0/8=drop", "entries");
    CHECK_SAYS("prefix-add eth0 12.0.0.0/8=drop", "entries");
    write_file(FILE_OF("v7", ENTRY("10.0.0.0/8", "\"action\": \"drop\"") ","
                       ENTRY("11.0.0.0/8", "\"action\": \"host\"") ","
                       ENTRY("13.0.0.1/8", "\"action\": \"drop\"")));
    CHECK_SAYS(with_file("prefix-check eth0", ""), "version: v7");
    CHECK_SAYS(with_file("prefix-check eth0", ""),
               "would be added: 1, removed: 1, changed: 1\n"
               "  - 11.0.0.0/8=drop\n  + 11.0.0.0/8=host\n"
               "  - 12.0.0.0/8=drop\n  + 13.0.0.0/8=drop\n");
    CHECK_SAYS(with_file("prefix-check eth0", ""), "notice: ");
    CHECK_SAYS(with_file("prefix-check eth0", " limit=1"), "and 2 more");
    CHECK_SAYS("prefix-show eth0", "12.0.0.0/8=drop");

    json = ASK(with_file("prefix-check --json eth0", ""));
    CHECK_INT(integer(json, "n_added"), 1);
    CHECK_INT(integer(json, "n_removed"), 1);
    CHECK_INT(integer(json, "n_changed"), 1);
    CHECK(has_json(json, "changes", "{\"change\":\"remove\",\"old\":{"));
    CHECK(has_json(json, "notices", "13.0.0"));
    CHECK(has_json(json, "warnings", "[]"));
    CHECK(has_json(json, "file", "\"version\":\"v7\""));
    json_destroy(json);
    json = ASK(with_file("prefix-check --json eth0", " limit=2"));
    CHECK(has_json(json, "changes", "12.0.0.0/8\"}}]"));
    json_destroy(json);
}

static void
a_dry_run_warns(void)
{
    write_file(FILE_OF("v7", ENTRY("10.0.0.0/8", "\"action\": \"drop\"")));
    fake_bridge_set_blind(true, false, false, false);
    CHECK_SAYS(with_file("prefix-check eth0", ""), "br0 has mirrors");
    fake_bridge_set_blind(false, true, false, false);
    CHECK_SAYS(with_file("prefix-check eth0", ""), "br0 has sFlow");
    fake_bridge_set_blind(false, false, true, false);
    CHECK_SAYS(with_file("prefix-check eth0", ""), "br0 has IPFIX");
    fake_bridge_set_blind(false, false, false, true);
    CHECK_SAYS(with_file("prefix-check eth0", ""), "br0 has NetFlow");
    fake_bridge_set_blind(false, false, false, false);
}

static void
a_refused_file_is_shown_all_the_same(void)
{
    struct json *json;

    write_file(FILE_OF("v7", ENTRY("10.0.0.0/8", "\"action\": \"redirect\", "
                                   "\"port\": \"eth9\"") ","
                       ENTRY("11.0.0.0/8", "\"action\": \"drop\"")));
    CHECK_REFUSES(with_file("prefix-check eth0", ""),
                  "stay on userspace: 1 of 2 entries: there is no "
                  "afxdp-fast port eth9\n    10.0.0.0/8=redirect:eth9\n");
    CHECK_REFUSES(with_file("prefix-check eth0", ""),
                  "refused: there is no afxdp-fast port eth9");
    CHECK_REFUSES(with_file("prefix-check eth0", ""),
                  "would be added: 2");
    json = ASK(with_file("prefix-check --json eth0", ""));
    CHECK(has_text(json, "error", "eth9"));
    CHECK_INT(integer(json, "n_stay_on_userspace"), 1);
    CHECK(has_json(json, "stay_on_userspace", "10.0.0.0/8=redirect:eth9"));
    json_destroy(json);
    write_file("nonsense");
    CHECK_REFUSES(with_file("prefix-check eth0", ""), ":1:");
}

static void
changes_may_take_time(void)
{
    struct unixctl_conn first, second;

    fake_ports_defer(true);
    run(&first, "prefix-add eth0 10.0.0.0/8=drop");
    CHECK(!first.answer);
    run(&second, "prefix-add eth1 10.0.0.0/8=redirect:eth2");
    CHECK(!second.answer);
    CHECK(fake_ports_run());
    check_says(OVS_SOURCE_LOCATOR, &first, GOOD, "add", "eth0:");
    fake_port_remove("eth1");
    check_says(OVS_SOURCE_LOCATOR, &second, BAD, "add", "the port is gone");
}

/* Writes a file of 8000 entries that drop. */
static void
write_large_file(void)
{
    FILE *f = fopen(path, "w");

    fprintf(f, "{\"version\": \"large\", \"entries\": [");
    for (int i = 0; i < 8000; i++) {
        fprintf(f, "%s{\"prefix\": \"10.%d.%d.0/24\", \"action\": \"drop\"}",
                i ? ",\n" : "", i / 256, i % 256);
    }
    fprintf(f, "]}\n");
    fclose(f);
}

static void
files_are_read_beside_the_main_thread(void)
{
    struct unixctl_conn first, second, third;

    write_large_file();
    run(&first, with_file("prefix-check eth0", " limit=3"));
    run(&second, with_file("prefix-check --json eth2", " limit=1"));
    run(&third, with_file("prefix-check eth1", " limit=3"));
    CHECK(!first.answer && !second.answer && !third.answer);
    fake_port_remove("eth1");
    wait_for_check(&first);
    CHECK(!second.answer && !third.answer);
    check_says(OVS_SOURCE_LOCATOR, &first, GOOD, "first", "and 7997 more");
    wait_for_check(&second);
    check_says(OVS_SOURCE_LOCATOR, &second, GOOD, "second",
               "\"n_added\":8000");
    wait_for_check(&third);
    check_says(OVS_SOURCE_LOCATOR, &third, BAD, "third",
               "eth1: no such afxdp-fast port");
    CHECK(!prefix_check_run());
}

/* Lets the dry run go on up to where it has looked at the table. */
static void
wait_for_look(unsigned int n_before)
{
    while (fake_ports_dry_runs() == n_before) {
        CHECK(!prefix_check_run());
        if (fake_ports_dry_runs() == n_before) {
            prefix_check_wait();
            poll_block();
        }
    }
}

/* The main thread does nothing but sleep while a thread compares, and then
 * changes all that there is to compare with. */
static void
a_dry_run_is_of_one_moment(void)
{
    unsigned int n = fake_ports_dry_runs();
    struct unixctl_conn text, json;

    CHECK_SAYS("prefix-add eth0 10.0.1.0/24=drop", "entries: 1");
    CHECK_SAYS("prefix-add eth0 11.0.0.0/8=drop", "entries: 2");
    write_large_file();
    run(&text, with_file("prefix-check eth0", " limit=3"));
    run(&json, with_file("prefix-check --json eth0", " limit=3"));
    wait_for_look(n);
    CHECK(!text.answer);
    CHECK_SAYS("prefix-del eth0 11.0.0.0/8", "entries: 1");
    CHECK_SAYS("prefix-del eth0 10.0.1.0/24", "entries: 0");
    CHECK_SAYS("prefix-add eth0 10.0.0.0/24=host", "entries: 1");
    fake_bridge_set_blind(true, false, false, false);
    prefix_check_wait();
    poll_block();               /* Until the thread has ended. */
    CHECK(prefix_check_run() && text.answer);
    CHECK(text.answer && strstr(text.answer, "entries: 2"));
    CHECK(text.answer && !strstr(text.answer, "mirrors"));
    check_says(OVS_SOURCE_LOCATOR, &text, GOOD, "text",
               "would be added: 7999, removed: 1, changed: 0");

    wait_for_look(n + 1);
    CHECK(!json.answer);
    fake_bridge_set_blind(false, false, false, false);
    fake_port_remove("eth0");
    wait_for_check(&json);
    CHECK(json.answer && strstr(json.answer, "br0 has mirrors"));
    check_says(OVS_SOURCE_LOCATOR, &json, GOOD, "json",
               "\"n_added\":7999,\"n_changed\":1,\"n_removed\":0");
}

/* Runs 'test' with new ports. */
static void
with_ports(const char *sentence, void (*test)(void))
{
    fake_ports_create();
    unit_run(sentence, test);
    fake_ports_destroy();
}

int
main(void)
{
    char name[] = "/tmp/test-prefix-appctl.XXXXXX";

    close(mkstemp(name));
    path = name;
    prefix_appctl_init();
    with_ports("wrong arguments are named, with what is allowed",
               arguments_are_checked);
    with_ports("entries are added and deleted", entries_come_and_go);
    with_ports("with --json errors are objects", errors_are_objects_too);
    with_ports("a file is applied, refused and rolled back, and keeps single "
               "entries from being changed", a_file_is_in_force);
    with_ports("versions are shown with what they were",
               history_is_shown);
    with_ports("a roll-back says that its pin could not be written",
               a_pin_that_is_not_kept_is_told);
    with_ports("entries are shown with their hits, as far as they are wanted",
               hits_are_shown);
    with_ports("a look-up says what becomes of a frame, and why",
               look_ups_say_what_becomes_of_a_frame);
    with_ports("a dry run shows what would change, and changes nothing",
               a_dry_run_shows_what_would_change);
    with_ports("... warns of what does not see the fast path",
               a_dry_run_warns);
    with_ports("... and shows a file that is refused, too",
               a_refused_file_is_shown_all_the_same);
    with_ports("answers wait until a change is done, or its port is gone",
               changes_may_take_time);
    with_ports("files are read beside the main thread, one by one",
               files_are_read_beside_the_main_thread);
    with_ports("a dry run compares beside the main thread, with what was in "
               "force at one moment", a_dry_run_is_of_one_moment);
    unlink(path);
    fake_socket_destroy();
    return unit_exit_status();
}
