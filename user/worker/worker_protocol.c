// SPDX-License-Identifier: BSD-2-Clause
#include "worker/worker_protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union one_fd {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

int protocol_send(int sock, const void *bytes, size_t n, int fd, int flags)
{
	struct iovec iov = { (void *)bytes, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union one_fd control = { 0 };
	struct cmsghdr *cmsg;
	ssize_t sent;

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	do {
		sent = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static int passed_fd(struct msghdr *msg)
{
	int fd = -1;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg;
	     cmsg = CMSG_NXTHDR(msg, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
		    cmsg->cmsg_len == CMSG_LEN(sizeof(fd)))
			memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

ssize_t protocol_recv(int sock, void *bytes, size_t room, int *ret_fd, int flags)
{
	struct iovec iov = { bytes, room };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union one_fd control;
	ssize_t got;

	if (ret_fd) {
		msg.msg_control = &control; /* room for one: the kernel drops more */
		msg.msg_controllen = sizeof(control);
		*ret_fd = -1;
	}
	do {
		got = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (ret_fd)
		*ret_fd = passed_fd(&msg);
	return msg.msg_flags & MSG_TRUNC ? -EPROTO : got;
}
