-- Works for so many seconds ("off": interpreted) in loops, in coroutines, below pcall, and
-- in callbacks of table.sort, of string.gsub and, by way of C, of qsort.
local mode, seconds = ...
if mode == "off" then
	jit.off()
end
local ffi = require("ffi")
ffi.cdef [[void qsort(void *, size_t, size_t, int (*)(const int *, const int *));]]

local function spin(n)
	local s = 0.5
	for i = 1, n do
		s = s + (i % 7) * s % 3
		if s > 100 then
			s = s - 99
		end
	end
	return s
end

local function in_coroutine(n)
	local resume = coroutine.wrap(function()
		for _ = 1, 3 do
			spin(n)
			coroutine.yield(spin(n))
		end
	end)
	for _ = 1, 3 do
		resume()
	end
end

local function in_sort(n)
	table.sort({ 3, 1, 2, 5, 4 }, function(a, b)
		spin(n)
		return a < b
	end)
end

local function in_gsub(n)
	return ("abcabc"):gsub("b", function(c)
		spin(n)
		return c
	end)
end

local function in_pcall(n)
	return pcall(function()
		spin(n)
		error("thrown")
	end)
end

local numbers = ffi.new("int[6]", { 5, 3, 4, 1, 2, 0 })
local compare = ffi.cast("int (*)(const int *, const int *)", function(a, b)
	spin(200)
	return a[0] - b[0]
end)

local function in_qsort()
	ffi.C.qsort(numbers, 6, 4, compare)
end
jit.off(in_qsort) -- a callback out of a trace is an error

local function in_all(n)
	return coroutine.resume(coroutine.create(function()
		in_sort(n)
		in_gsub(n)
		in_pcall(n)
	end))
end

local ends = os.clock() + tonumber(seconds)
while os.clock() < ends do
	spin(3000)
	in_coroutine(300)
	in_sort(300)
	in_gsub(300)
	in_pcall(600)
	in_all(200)
	in_qsort()
end
