/* test_free_memory.c -- how much memory there is, with /proc and control groups made up for it. */
#include "store_world.h"

static void file(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s", at(name));
    for (char *slash = strchr(path + strlen(world) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    put_file(name, text, strlen(text));
}

static void begin(void)
{
    world_begin();
    ar_memory_world(world);
    file("proc/meminfo", "MemTotal:       8000 kB\nMemFree:          10 kB\n"
                         "MemAvailable:   6000 kB\nCached:         5900 kB\n");
}

static void end(void)
{
    ar_memory_world("");
    world_end();
}

static void is(int64_t available, int64_t whole)
{
    CHECK_EQ_INT(ar_memory_available(), available);
    CHECK_EQ_INT(arras_memory_available(), available);
    CHECK_EQ_INT(ar_memory_fair(), available / 2);
    CHECK_EQ_INT(ar_memory_whole(), whole);
}

/* What the system's cache holds can be had. */
static void without_groups(void)
{
    begin();
    is(6000 << 10, 8000 << 10);
    file("proc/self/cgroup", "0::/\n");
    is(6000 << 10, 8000 << 10);
    file("sys/fs/cgroup/memory.max", "max\n");
    file("sys/fs/cgroup/memory.current", "1000\n");
    is(6000 << 10, 8000 << 10);
    end();
}

static void says_nothing(void)
{
    begin();
    file("proc/meminfo", "");
    CHECK_EQ_INT(ar_memory_available(), INT64_MAX);
    CHECK_EQ_INT(ar_memory_whole(), INT64_MAX);
    CHECK_EQ_INT(ar_memory_fair(), 1 << 30);
    end();
}

/* The least of our group and all around it; files that nobody needs count as free. */
static void second_version(void)
{
    begin();
    file("proc/self/cgroup", "0::/jobs/job/step\n");
    file("sys/fs/cgroup/jobs/memory.max", "5000000\n");
    file("sys/fs/cgroup/jobs/memory.current", "1000000\n");
    file("sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 400000\nactive_file 7\n");
    file("sys/fs/cgroup/jobs/job/memory.max", "max\n");
    file("sys/fs/cgroup/jobs/job/memory.current", "900000\n");
    is(4400000, 5000000);
    file("sys/fs/cgroup/jobs/job/step/memory.max", "2000000\n");
    file("sys/fs/cgroup/jobs/job/step/memory.current", "500000\n");
    is(1500000, 2000000);
    file("sys/fs/cgroup/jobs/job/memory.high", "1200000\n"); /* slow from there on */
    is(300000, 1200000);
    file("sys/fs/cgroup/jobs/job/memory.current", "1300000\n");
    is(0, 1200000);
    file("sys/fs/cgroup/jobs/job/memory.stat", "inactive_file 9000000\n");
    is(1200000, 1200000);
    end();
}

/* Among other controllers, and in a container, which sees no other groups than its own. */
static void first_version(void)
{
    static const char *const lines[] = {
        "12:cpuset:/a\n5:memory:/docker/abc\n1:name=systemd:/a\n0::/a\n",
        "5:hugetlb,memory:/docker/abc\n",
        "5:memory,cpu:/docker/abc\n0::/\n",
    };
    begin();
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
    file("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 200000\n");
    for (size_t i = 0; i < AR_COUNT(lines); i++) {
        CASE("%s", lines[i]);
        file("proc/self/cgroup", lines[i]);
        is(2200000, 3000000);
    }
    CASE("no memory among them");
    file("proc/self/cgroup", "3:memory2,cpu:/x\n4:pids:/memory\n");
    is(6000 << 10, 8000 << 10);
    CASE("no limit");
    file("proc/self/cgroup", lines[0]);
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    is(6000 << 10, 8000 << 10);
    end();
}

TEST_MAIN
{
    RUN(without_groups);
    RUN(says_nothing);
    RUN(second_version);
    RUN(first_version);
    CASE("this machine");
    CHECK(ar_memory_available() > 0 && ar_memory_available() <= ar_memory_whole());
}
