// SPDX-License-Identifier: BSD-2-Clause
// Maps, sorting, formatting, channels and garbage, for ever.
package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

type node struct {
	Name  string
	Nodes []*node
}

func grow(depth int) *node {
	n := &node{Name: fmt.Sprintf("node %d", depth)}
	for i := 0; depth > 0 && i < 3; i++ {
		n.Nodes = append(n.Nodes, grow(depth-1))
	}
	return n
}

func words(n int) []string {
	seen := map[string]int{}
	for i := 0; i < n; i++ {
		seen[strings.Repeat("ab", i%7)+fmt.Sprint(i*7919%97)] += i
	}
	all := make([]string, 0, len(seen))
	for word := range seen {
		all = append(all, word)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	return all
}

func main() {
	jobs := make(chan int)
	for i := 0; i < 2; i++ {
		go func() {
			for n := range jobs {
				text, _ := json.Marshal(grow(4))
				var back node
				if json.Unmarshal(text, &back) != nil || len(words(n)) == 0 {
					panic("lost")
				}
			}
		}()
	}
	for n := 100; ; n = 100 + (n+1)%100 {
		jobs <- n
	}
}
