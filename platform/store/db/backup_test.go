package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store/db"
)

// scheduler stands for the backup schedules of a CockroachDB. It understands the statements of ApplyBackups only.
type scheduler struct {
	version   string
	schedules [][]driver.Value            // id, label, status
	jobs      map[string][][]driver.Value // status, error and time, by the id of the schedule
	executed  []string
}

func newScheduler() *scheduler {
	return &scheduler{version: "CockroachDB CCL v25.2.0", jobs: map[string][][]driver.Value{}}
}

func (s *scheduler) Connect(context.Context) (driver.Conn, error) { return schedulerConn{s}, nil }
func (s *scheduler) Driver() driver.Driver                        { return nil }

type schedulerConn struct{ *scheduler }

func (schedulerConn) Prepare(string) (driver.Stmt, error) { return nil, errNotAsked }
func (schedulerConn) Begin() (driver.Tx, error)           { return nil, errNotAsked }
func (schedulerConn) Close() error                        { return nil }

func (c schedulerConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	switch {
	case strings.Contains(query, "version()"):
		return &valueRows{rows: [][]driver.Value{{c.version}}}, nil
	case strings.Contains(query, "current_database()"):
		return &valueRows{rows: [][]driver.Value{{"plaza"}}}, nil
	case strings.Contains(query, "FROM settings"):
		return &valueRows{rows: [][]driver.Value{{"acme"}}}, nil
	case strings.Contains(query, "SHOW SCHEDULES"):
		return &valueRows{rows: c.schedules}, nil
	case strings.Contains(query, "SHOW JOBS FOR SCHEDULE "):
		id := regexp.MustCompile(`[0-9]+]`).FindString(query)
		return &valueRows{rows: c.jobs[strings.TrimSuffix(id, "]")]}, nil
	}
	return nil, fmt.Errorf("no answer to %s", query)
}

var createdLabel = regexp.MustCompile(`^CREATE SCHEDULE IF NOT EXISTS '([^']+)'`)

func (c schedulerConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	c.executed = append(c.executed, query)
	if created := createdLabel.FindStringSubmatch(query); created != nil {
		return driver.ResultNoRows, c.create(created[1])
	}
	verb, text, _ := strings.Cut(query, " SCHEDULE ")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, err
	}
	for i, row := range c.schedules {
		switch {
		case row[0] == id && verb == "DROP":
			c.scheduler.schedules = slices.Delete(slices.Clone(c.schedules), i, i+1)
			return driver.ResultNoRows, nil
		case row[0] == id && verb == "RESUME":
			row[2] = "ACTIVE"
			return driver.ResultNoRows, nil
		}
	}
	return nil, fmt.Errorf("no schedule for %s", query)
}

func (s *scheduler) create(label string) error {
	for _, row := range s.schedules {
		if row[1] == label {
			return nil
		}
	}
	s.schedules = append(s.schedules, []driver.Value{int64(100 + len(s.executed)), label, "ACTIVE"})
	return nil
}

type valueRows struct{ rows [][]driver.Value }

func (r *valueRows) Columns() []string {
	if len(r.rows) == 0 {
		return []string{"a", "b", "c"}
	}
	return make([]string, len(r.rows[0]))
}
func (*valueRows) Close() error { return nil }

func (r *valueRows) Next(into []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(into, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

func (s *scheduler) apply(t *testing.T, opts db.BackupOptions) db.BackupReport {
	t.Helper()
	conn := sql.OpenDB(s)
	defer conn.Close()
	report, err := db.ApplyBackupsTo(t.Context(), conn, opts)
	require.NoError(t, err)
	return report
}

func daily() db.BackupOptions {
	return db.BackupOptions{Identity: "acme", Schedule: "0 3 * * *", Destinations: []string{"s3://backups?AWS_SECRET_ACCESS_KEY=swordfish"}}
}

// TestApplyBackups creates, keeps, changes and removes a schedule.
func TestApplyBackups(t *testing.T) {
	s := newScheduler()
	others := []driver.Value{int64(7), "nightly", "PAUSED"}
	ofOtherDatabase := []driver.Value{int64(8), `plaza backup of "plaza2" 0123456789abcdef`, "ACTIVE"}
	s.schedules = [][]driver.Value{others, ofOtherDatabase}
	s.apply(t, daily())
	require.Len(t, s.schedules, 3)
	first := s.schedules[2]
	require.NotContains(t, first[1], "swordfish")

	s.apply(t, daily())
	require.Equal(t, [][]driver.Value{others, ofOtherDatabase, first}, s.schedules, "the same schedule, not a second one")

	changes := map[string]func(*db.BackupOptions){
		"schedule":    func(o *db.BackupOptions) { o.Schedule = "0 4 * * *" },
		"credentials": func(o *db.BackupOptions) { o.Destinations = []string{"s3://backups?AWS_SECRET_ACCESS_KEY=sailfish"} },
		"destination": func(o *db.BackupOptions) { o.Destinations = append(o.Destinations, "s3://more") },
	}
	for name, change := range changes {
		opts := daily()
		change(&opts)
		s.apply(t, opts)
		require.Len(t, s.schedules, 3, name)
		require.NotEqual(t, first[1], s.schedules[2][1], name)
		last := s.executed[len(s.executed)-2:]
		require.Regexp(t, "^CREATE .*", last[0], "%s: there is always one", name)
		require.Regexp(t, "^DROP .*", last[1], name)
	}

	s.apply(t, db.BackupOptions{Identity: "acme"})
	require.Equal(t, [][]driver.Value{others, ofOtherDatabase}, s.schedules, "only those of Plaza for this database are removed")
}

func TestApplyBackupsResumesASchedule(t *testing.T) {
	s := newScheduler()
	s.apply(t, daily())
	s.schedules[0][2] = "PAUSED"
	s.apply(t, daily())
	require.Equal(t, "ACTIVE", s.schedules[0][2])
}

func TestBackupReport(t *testing.T) {
	hour := func(n int) int64 { return time.Date(2026, 11, 2, n, 0, 0, 0, time.UTC).Unix() }
	for name, c := range map[string]struct {
		jobs [][]driver.Value
		want db.BackupReport
	}{
		"none yet": {nil, db.BackupReport{}},
		"running":  {[][]driver.Value{{"running", "", int64(0)}}, db.BackupReport{}},
		"succeeded": {
			[][]driver.Value{{"succeeded", "", hour(3)}, {"succeeded", "", hour(5)}, {"succeeded", "", hour(4)}},
			db.BackupReport{LastSuccess: time.Unix(hour(5), 0).UTC()},
		},
		"failed since": {
			[][]driver.Value{{"failed", "no bucket", hour(5)}, {"failed", "older", hour(4)}, {"succeeded", "", hour(3)}},
			db.BackupReport{LastSuccess: time.Unix(hour(3), 0).UTC(), LastError: "no bucket"},
		},
		"succeeded after": {
			[][]driver.Value{{"failed", "no bucket", hour(3)}, {"succeeded", "", hour(4)}},
			db.BackupReport{LastSuccess: time.Unix(hour(4), 0).UTC()},
		},
		"never succeeded": {[][]driver.Value{{"failed", "no bucket", hour(3)}}, db.BackupReport{LastError: "no bucket"}},
		"canceled by hand": {
			[][]driver.Value{{"canceled", "", hour(6)}, {"succeeded", "", hour(4)}},
			db.BackupReport{LastSuccess: time.Unix(hour(4), 0).UTC()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScheduler()
			s.apply(t, daily())
			s.jobs[fmt.Sprint(s.schedules[0][0])] = c.jobs
			require.Equal(t, c.want, s.apply(t, daily()))
			changed := daily()
			changed.Schedule = "0 9 * * *"
			require.Equal(t, c.want, s.apply(t, changed), "the backups of the schedule that is replaced count")
		})
	}
}

func TestApplyBackupsRefusesAnotherNetwork(t *testing.T) {
	s := newScheduler()
	conn := sql.OpenDB(s)
	defer conn.Close()
	opts := daily()
	opts.Identity = "other"
	_, err := db.ApplyBackupsTo(t.Context(), conn, opts)
	require.ErrorIs(t, err, db.ErrOtherNetwork)
	require.Empty(t, s.executed)
}

func TestApplyBackupsOnPostgreSQL(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("the database is CockroachDB")
	}
	opts := daily()
	opts.URL = testdb.New(t)
	_, err := db.ApplyBackups(t.Context(), opts)
	require.ErrorIs(t, err, db.ErrNoBackupSchedules)
}

func TestScheduleStatementQuotes(t *testing.T) {
	got := db.ScheduleStatement(`pla"za`, "it's", db.BackupOptions{Schedule: "@daily", Destinations: []string{"s3://a", "s3://b'"}})
	require.Equal(t,
		`CREATE SCHEDULE IF NOT EXISTS 'it''s' FOR BACKUP DATABASE "pla""za" INTO ('s3://a', 's3://b''') RECURRING '@daily' FULL BACKUP ALWAYS `+
			`WITH SCHEDULE OPTIONS first_run = 'now', on_execution_failure = 'reschedule', on_previous_running = 'wait', ignore_existing_backups`,
		got)
}
