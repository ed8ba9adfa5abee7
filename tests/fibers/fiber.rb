# SPDX-License-Identifier: BSD-2-Clause
# A Fiber that yields after some work: String#sum is what no one else calls.
text = 'weft' * 2000
fiber = Fiber.new do
  loop do
    10.times { text.sum }
    Fiber.yield
  end
end
loop { fiber.resume }
