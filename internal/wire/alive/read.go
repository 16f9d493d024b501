package alive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

// States reads the entries of [wire.Names.WorkersBucket], sorted by name. An entry that
// no worker can have written is left out, and counted in strangers.
func States(entries []follow.Entry) (all []wire.WorkerState, strangers int) {
	all = make([]wire.WorkerState, 0, len(entries))
	for _, entry := range entries {
		if state, err := wire.DecodeWorkerState(entry.Value); err == nil && state.Worker != "" {
			all = append(all, state)
		}
	}
	slices.SortFunc(all, func(a, b wire.WorkerState) int {
		return cmp.Or(strings.Compare(a.Worker, b.Worker), a.StartedAt.Compare(b.StartedAt))
	})
	return all, len(entries) - len(all)
}
