package importer

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// example is the file of README.md.
const example = "testdata/example.jsonl"

// optionsOf returns the options of an import that needs no database to check lines.
func optionsOf(t *testing.T) Options {
	t.Helper()
	requests, err := edge.NewRequests(Requests()...)
	require.NoError(t, err)
	return Options{Region: region.EU, Now: func() time.Time { return servicetest.Noon }, NewID: region.NewID, Decode: requests.Decode}
}

// world is an empty network.
type world struct {
	*servicetest.World
	options Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{servicetest.NewWorld(t), optionsOf(t)}
	w.options.Store, w.options.Directory = w.Store, w.Deps.Directory
	return w
}

// importText imports lines.
func (w *world) importText(ctx context.Context, text string, from int64) (Progress, error) {
	return New(w.options).Import(ctx, "file", strings.NewReader(text), from)
}

// mustImport imports lines and returns the progress.
func (w *world) mustImport(t *testing.T, text string) Progress {
	t.Helper()
	at, err := w.importText(t.Context(), text, 1)
	require.NoError(t, err)
	return at
}

func readExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	return string(text)
}

// climbing is the community of the example, at home eu.
const (
	climbing       = "02d2a0f08b0d4a3c6e7f1001"
	climbingInFile = "5cd2a0f08b0d4a3c6e7f1001"
)

// requireCounts compares the counts of the community of the example, which must be those of its rows.
func (w *world) requireCounts(t *testing.T, members, moderators, published int64) {
	t.Helper()
	counts := core.Counts{}
	var rows []communities.Member
	var posts []content.Post
	reads := w.Store.NewReadBatch()
	reads.Counts(region.EU, []string{climbing}, counts)
	reads.MembersAfter(climbing, "", 1000, &rows)
	reads.ListPosts(content.PostList{TargetID: climbing, FeedType: "published", Limit: 1000}, &posts)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, members, counts.Of(climbing, core.CountMembers))
	require.Equal(t, moderators, counts.Of(climbing, core.CountModerators))
	require.Equal(t, published, counts.Of(climbing, core.CountPublished))
	require.Len(t, rows, int(members))
	require.Len(t, posts, int(published))
}

// userLines returns the lines of n users.
func userLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","userId":"user %d"}`+"\n", i)
	}
	return b.String()
}
