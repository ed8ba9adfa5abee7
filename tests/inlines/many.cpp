// SPDX-License-Identifier: BSD-2-Clause
// Templates, lambdas and inlined functions of a standard library.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

template <typename T> static int sorted(std::vector<T> of)
{
	std::map<T, int> seen;

	std::stable_sort(of.begin(), of.end());
	for (auto &one : of)
		seen[one]++;
	std::sort(of.begin(), of.end(),
		  [&](auto &a, auto &b) { return seen[a] < seen[b]; });
	of.erase(std::unique(of.begin(), of.end()), of.end());
	return (int)seen.size() + (int)of.size();
}

int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	std::vector<std::pair<int, std::string>> lengths;

	for (auto &word : words)
		lengths.emplace_back((int)word.size(), word);
	return sorted(words) + sorted(lengths);
}
