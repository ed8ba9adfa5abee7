// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions at whose return somebody waits: the kernel writes over their return
 * addresses, to learn of it, and each of them seems to have been called by [uprobes].
 * This program waits for its own. One calls itself; one goes on in another by a jump, so
 * that both return by one address.
 *
 *	probed MS [often]		often: their returns take most of the time
 *
 * Thread:  main;turn;outer;inner;inner;burn  main;turn;last
 */
#include "work.h"

#include <elf.h>
#include <linux/perf_event.h>

#define TYPE_FILE  "/sys/bus/event_source/devices/uprobe/type"
#define IS_RETURN  1 /* /sys/bus/event_source/devices/uprobe/format/retprobe */
#define SELF_BYTES 4096

extern const Elf64_Ehdr __ehdr_start;

static int turns = 20000;

static FN void burn(void)
{
	spin(turns);
}

FN void inner(int n)
{
	if (n)
		inner(n - 1);
	else
		burn();
	AFTER();
}

FN void outer(void)
{
	inner(1);
	AFTER();
}

FN void last(void)
{
	spin(turns);
	AFTER();
}

/* Its return address is last()'s, both of which are waited for. */
FN void first(void);
#if defined(__x86_64__)
__asm__(".pushsection .text\n.globl first\nfirst: .cfi_startproc\njmp last\n"
	".cfi_endproc\n.popsection\n");
#else
__asm__(".pushsection .text\n.globl first\nfirst: .cfi_startproc\nbti c\nb last\n"
	".cfi_endproc\n.popsection\n");
#endif

static FN void turn(void)
{
	for (;;) {
		outer();
		first();
	}
}

/* The file's own place in memory is where its first byte is. */
static bool wait_for(const char *path, unsigned int type, void (*function)(void))
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = IS_RETURN,
		.config1 = (unsigned long)path,
		.config2 = (unsigned long)function - (unsigned long)&__ehdr_start,
		.sample_period = 1UL << 40,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0;
}

int main(int argc, char **argv)
{
	void (*functions[])(void) = { outer, (void (*)(void))inner, first, last };
	char path[SELF_BYTES] = "";
	unsigned int type = 0;
	FILE *file = fopen(TYPE_FILE, "r");

	if (argc < 2)
		return work_usage("probed", "MS [often]");
	if (argc > 2)
		turns = 50;
	if (!file || fscanf(file, "%u", &type) != 1 ||
	    readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 2;
	fclose(file);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!wait_for(path, type, functions[i]))
			return 2;
	work_ready();
	work_lifetime(argv[1]);
	turn();
	return 0;
}
