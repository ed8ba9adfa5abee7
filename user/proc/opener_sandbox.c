// SPDX-License-Identifier: BSD-2-Clause
#include "proc/opener_parts.h"
#include "worker/syscall_filter.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <unistd.h>

#define BIT(cap) (1U << ((cap) % 32))

/* What reads others' processes and files; root has all the others, too. Where nobody
 * knows the newest of them, an older one stands for it. */
static void keep_what_reads(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];
	const unsigned int low = BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_PTRACE);
	const unsigned int high = BIT(CAP_CHECKPOINT_RESTORE);
	bool has_high;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &head, caps))
		return;
	has_high = caps[1].effective & high;
	for (int i = 0; i < 2; i++) {
		caps[i].permitted &= i ? high : low | (has_high ? 0 : BIT(CAP_SYS_ADMIN));
		caps[i].effective &= caps[i].permitted;
		caps[i].inheritable = 0;
	}
	syscall(SYS_capset, &head, caps);
}

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Of a call that opens: not for writing. */
#define READING_ONLY(call, arg)                                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4),                           \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                       \
			 offsetof(struct seccomp_data, args[arg])),                      \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1),                      \
		FILTER_RETURN(FILTER_REFUSE), FILTER_RETURN(FILTER_ALLOW)

#define REFUSE(call) FILTER_RULE(call, FILTER_REFUSE)

/* The flags of openat2, by which paths below others' roots are opened, no filter sees. */
static void refuse_calls(void)
{
	struct sock_filter filter[] = {
		FILTER_HEAD,
		FILTER_TAKING_OVER,
		REFUSE(process_vm_writev),
		REFUSE(pidfd_getfd),
		REFUSE(pidfd_send_signal),
		REFUSE(kill),
		REFUSE(tkill),
		REFUSE(clone),
		REFUSE(clone3),
		REFUSE(open_by_handle_at),
		REFUSE(socket),
		REFUSE(connect),
		REFUSE(mknodat),
		REFUSE(linkat),
		REFUSE(symlinkat),
		REFUSE(renameat),
		REFUSE(renameat2),
		REFUSE(unlinkat),
		REFUSE(mkdirat),
		REFUSE(truncate),
		REFUSE(fchmodat),
		REFUSE(fchownat),
#ifdef SYS_open /* the older names, which x86-64 has */
		REFUSE(fork),
		REFUSE(vfork),
		REFUSE(creat),
		REFUSE(mknod),
		REFUSE(link),
		REFUSE(symlink),
		REFUSE(rename),
		REFUSE(unlink),
		REFUSE(mkdir),
		REFUSE(rmdir),
		REFUSE(chmod),
		REFUSE(chown),
		READING_ONLY(open, 1),
#endif
		READING_ONLY(openat, 2),
		FILTER_RETURN(FILTER_ALLOW),
	};

	syscall_filter_take(filter, sizeof(filter) / sizeof(*filter));
}

void opener_sandbox(void)
{
	keep_what_reads();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	refuse_calls();
}
