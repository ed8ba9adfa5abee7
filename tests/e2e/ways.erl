%% SPDX-License-Identifier: BSD-2-Clause
%% Whatever is busy here was called in one way: by main/0, loop/1, one/2, two/2 and
%% kind/3, none of which calls another one last, so all of them have a frame.
-module(ways).
-export([main/0]).

main() ->
	Table = ets:new(table, [public]),
	Echo = spawn(fun Self() -> receive {Who, What} -> Who ! What, Self() end end),
	[spawn(fun() -> loop({Table, Echo}) end) || _ <- [1, 2]],
	receive stop -> ok end.

loop(State) ->
	N = one(State, lists:seq(1, 300)),
	true = N > 0,
	loop(State).

one(State, List) ->
	Sum = two(State, List),
	Sum + 1.

two(State, List) ->
	Sums = [kind(Kind, State, List) || Kind <- kinds()],
	lists:sum(Sums).

kinds() -> [recurse, build, match, store, throw, float, big, ask].

kind(recurse, _, _) -> 1 + down(18);
kind(build, _, List) ->
	Long = lists:flatten([List, [integer_to_list(X) || X <- List]]),
	1 + length(binary_to_term(term_to_binary(lists:sort(fun(A, B) -> A < B end, Long))));
kind(match, _, List) ->
	Bytes = << <<X:32>> || X <- List >>,
	1 + lists:sum([X band 1 || <<X:24>> <= Bytes]) + erlang:crc32(Bytes) band 1;
kind(store, {Table, _}, List) ->
	lists:foreach(fun(X) -> ets:insert(Table, {X, List}) end, lists:sublist(List, 20)),
	1 + ets:foldl(fun({X, _}, Sum) -> X + Sum end, 0, Table);
kind(throw, _, List) ->
	1 + lists:sum([try thrower(X) catch throw:Y -> Y end || X <- List]);
kind(float, _, List) ->
	1 + trunc(lists:foldl(fun(X, Sum) -> math:sqrt(X) + Sum / 2.0 end, 0.0, List));
kind(big, _, List) ->
	1 + lists:foldl(fun(X, Product) -> (X * Product) rem (1 bsl 200) end, 1, List);
kind(ask, {_, Echo}, List) ->
	Echo ! {self(), List},
	receive List -> 1 end.

thrower(X) when X band 1 =:= 1 -> throw(X);
thrower(X) -> 1 + thrower(X + 1).

down(0) -> 0;
down(1) -> 1;
down(N) -> down(N - 1) + down(N - 2).
