package conformance

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

// ending is something that ends at a time, or begins then.
type ending struct {
	name string
	// of are the columns, settings and fields of requests that say when: "stories.expires_at", "file-url-ttl", "mutePeriod".
	of    []string
	begin func(t *testing.T, w *timeline) moment
}

// moment is a time, with the checks of what is so in the last millisecond before it, and of what is so from then on.
type moment struct {
	at            time.Time
	before, after func(t *testing.T)
}

// timeline is the network of the walk, and its clock. It uses the region eu alone.
type timeline struct {
	n     *apptest.Network
	clock *apptest.Clock
}

func (w *timeline) user(t *testing.T) *apptest.Client {
	t.Helper()
	return w.n.NewUser(t, region.EU, "user")
}

// in returns the time d from now in the format of requests.
func (w *timeline) in(d time.Duration) string { return w.format(w.clock.Now().Add(d)) }

func (w *timeline) format(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// parsed returns the time at a path of an answer.
func parsed(t *testing.T, r *apptest.Response, path string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, r.OK(t).String(t, path))
	require.NoError(t, err)
	return at
}

// TestEndings moves the clock of a network to the last millisecond of everything that ends, and to its end.
func TestEndings(t *testing.T) {
	t.Parallel()
	w := &timeline{clock: &apptest.Clock{}}
	w.n = apptest.Start(t, apptest.WithClock(w.clock))
	for _, e := range endings() {
		t.Run(e.name, func(t *testing.T) {
			defer w.clock.Start()
			m := e.begin(t, w)
			require.True(t, m.at.After(w.clock.Now()), "it has ended already: %s", m.at)
			w.clock.StopAt(m.at.Add(-time.Millisecond))
			m.before(t)
			w.clock.StopAt(m.at)
			m.after(t)
		})
	}
}

// TestEveryTimeHasAnEnding fails for a time in the schema, in the configuration or in a request of which no row says what ends then.
func TestEveryTimeHasAnEnding(t *testing.T) {
	t.Parallel()
	walked := map[string]bool{}
	for _, e := range endings() {
		for _, name := range e.of {
			walked[name] = true
		}
	}
	for name, other := range otherTimes {
		require.False(t, walked[name], "%s has a row and a reason to have none", name)
		walked[name] = true
		requireTest(t, other.tested)
	}
	all := slices.Concat(timeColumns(t), durationSettings(), timesInRequests(), keyFiles())
	require.Empty(t, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return walked[name] }),
		"say what ends then, or why nothing does")
	for name := range walked {
		require.Contains(t, all, name, "a row for an unknown time")
	}
}

// records are the names of columns with the time at which something has happened.
var records = []string{
	"acted_at", "applied_at", "cancelled_at", "changed_at", "claimed_at", "closed_at", "created_at", "day", "deleted_at", "edited_at",
	"emptied_at",
	"ended_at",
	"escalated_at", "finished_at", "first_at", "flagged_at", "hidden_at", "joined_at", "last_activity", "last_at", "last_message_at",
	"last_occurred_at",
	"last_seen_at", "last_sync_at", "live_at", "locked_at", "opened_at", "pinned_at", "post_created_at",
	"presence_changed_at", "recorded_at", "requested_at", "resolved_at", "responded_at",
	"revoked_at", "seen_at", "sent_at", "started_at", "tstamp", "updated_at", "written_at",
}

// timeColumns returns the columns of the schema with a time that is no record.
func timeColumns(t *testing.T) []string {
	t.Helper()
	conn := connectTo(t, apptest.Shared(t))
	rows, err := conn.Query(t.Context(), `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND data_type LIKE 'timestamp%' AND NOT column_name = ANY($1) ORDER BY 1`, records)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, columns)
	return columns
}

// durationSettings returns the settings of the configuration that are durations.
func durationSettings() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[config.Config]()) {
		if field.Type == reflect.TypeFor[config.Duration]() || field.Type == reflect.TypeFor[config.Delay]() {
			names = append(names, field.Tag.Get("name"))
		}
	}
	return names
}

// keyFiles returns the files of keys, each of which can have an end.
func keyFiles() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[apptest.KeyFiles]()) {
		names = append(names, "Keys."+field.Name)
	}
	return names
}

// timeName matches the names of fields that say when something ends, or how long it lasts.
var timeName = regexp.MustCompile(`^(scheduled_at|closed_in|end_time)$|expir|until|period|timeout|lifetime|ttl$|_(minutes|hours|days)$`)

// timesInRequests returns the fields of requests that say when something ends.
func timesInRequests() []string {
	var names []string
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				names = append(names, timesIn(methods.Get(j).Input(), map[protoreflect.FullName]bool{})...)
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// timesIn returns the fields of a message, and of the messages in it, that say when something ends.
func timesIn(m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) []string {
	if seen[m.FullName()] {
		return nil
	}
	seen[m.FullName()] = true
	var names []string
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		if field.Kind() == protoreflect.BoolKind {
			continue
		}
		if timeName.MatchString(string(field.Name())) {
			names = append(names, field.JSONName())
		}
		if inner := field.Message(); inner != nil {
			names = append(names, timesIn(inner, seen)...)
		}
	}
	return names
}

// otherTime is why a time has no row.
type otherTime struct {
	why    string
	tested string // the folder below platform, and the test
}

// requireTest checks that a test exists: "delivery TestLeases".
func requireTest(t *testing.T, name string) {
	t.Helper()
	folder, test, _ := strings.Cut(name, " ")
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(content), "\nfunc "+test+"(t *testing.T)") {
			return
		}
	}
	require.Fail(t, "no such test", name)
}
