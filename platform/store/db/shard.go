package db

import (
	"math/bits"
	"math/rand/v2"
	"sync"
)

// Shards is the number of rows that a count is distributed over.
const Shards = 16

type anyShard struct{}

// AnyShard is the argument for the shard of a count that is replaced by one that no other transaction of this server is
// using. It must be the last part of the key of a statement that UpdatesFirst a sharded table.
var AnyShard any = anyShard{}

// shards are the shards of counts that transactions of this server are using.
type shards struct {
	mu   sync.Mutex
	used map[RowKey]uint16 // a bit for each shard
}

// take returns a random shard of the counts of a reference that no other transaction uses, or any if all are in use.
func (s *shards) take(ref RowKey) (shard int64, giveBack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := rand.IntN(Shards)
	free := bits.TrailingZeros16(bits.RotateLeft16(^s.used[ref], -turn))
	if free == Shards {
		return int64(turn), func() {}
	}
	taken := (free + turn) % Shards
	s.used[ref] |= 1 << taken
	return int64(taken), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.used[ref] &^= 1 << taken; s.used[ref] == 0 {
			delete(s.used, ref)
		}
	}
}

// shardArg is an argument of a step that was AnyShard.
type shardArg struct {
	ref RowKey
	arg *any
}

// shardArgs returns the arguments of steps that are AnyShard.
func shardArgs(steps []Step) []shardArg {
	var all []shardArg
	for i := range steps {
		s := &steps[i]
		u := s.statement.Update
		if u == nil || !u.Table.IsSharded || len(u.Key) == 0 {
			continue
		}
		if arg := &s.args[u.Key[len(u.Key)-1]-1]; *arg == AnyShard {
			all = append(all, shardArg{ref: RowKey{u.Table, s.args[u.Key[0]-1].(string)}, arg: arg})
		}
	}
	return all
}

// choose sets the arguments to shards, the same for all counts of a reference. The caller must call giveBack when it no
// longer uses them.
func (s *shards) choose(args []shardArg) (giveBack func()) {
	chosen := map[RowKey]int64{}
	var all []func()
	for _, a := range args {
		shard, ok := chosen[a.ref]
		if !ok {
			var one func()
			shard, one = s.take(a.ref)
			chosen[a.ref], all = shard, append(all, one)
		}
		*a.arg = shard
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}
