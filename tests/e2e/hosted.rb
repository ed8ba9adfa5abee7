# SPDX-License-Identifier: BSD-2-Clause
# Goes down by way of C, eight times, and is busy there: each stack has eight of each.
def busy(n)
  n < 2 ? n : busy(n - 1) + busy(n - 2)
end

def down(n)
  n == 0 ? busy(20) : [n].each { |m| down(m - 1) }
end

finish = Time.now + ARGV[0].to_i
down(8) while Time.now < finish
