// SPDX-License-Identifier: BSD-2-Clause
// Templates, lambdas and inlined functions of a standard library.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	std::map<std::string, int> seen;
	std::regex odd("a.*b|[0-9]+");

	for (auto &word : words) {
		seen[word]++;
		if (std::regex_match(word, odd))
			seen["odd"]++;
	}
	std::sort(words.begin(), words.end(),
		  [](auto &a, auto &b) { return a.size() < b.size(); });
	return (int)(seen.size() + words[0].size());
}
