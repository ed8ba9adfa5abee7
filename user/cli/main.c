// SPDX-License-Identifier: BSD-2-Clause
#include "cli/commands.h"

int main(int argc, char **argv)
{
	return commands_main(argc, argv);
}
