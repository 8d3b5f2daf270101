package db

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The statements of this file exist on CockroachDB only. They concern the whole database and have no home.

// ErrNoBackupSchedules is returned by ApplyBackups on PostgreSQL, which is backed up by its own means.
var ErrNoBackupSchedules = errors.New("PostgreSQL has no backup schedules")

// BackupOptions are the options of ApplyBackups.
type BackupOptions struct {
	// URL of the database. Its role needs the privilege BACKUP on the database.
	URL string
	// Identity is the NetworkIdentity of the network: the schedules of the database of another one are not touched.
	Identity string
	// Schedule in cron form; empty removes the schedules.
	Schedule string
	// Destinations are the addresses, with credentials, between which CockroachDB distributes a backup by locality.
	Destinations []string
}

// BackupReport is the result of ApplyBackups.
type BackupReport struct {
	// LastSuccess is when the newest successful backup ended; zero if the database knows none.
	LastSuccess time.Time
	// LastError is why the newest backup failed; empty if it succeeded.
	LastError string
}

// ApplyBackups makes the database have one backup schedule as the options describe it, and no other one of Plaza: it creates it before
// it removes those of earlier options, and resumes it if it was paused. It is idempotent.
func ApplyBackups(ctx context.Context, opts BackupOptions) (BackupReport, error) {
	db, err := openSQL(opts.URL)
	if err != nil {
		return BackupReport{}, err
	}
	defer db.Close()
	return applyBackups(ctx, db, opts)
}

func applyBackups(ctx context.Context, db *sql.DB, opts BackupOptions) (BackupReport, error) {
	engine, err := engineOf(ctx, db)
	if err != nil {
		return BackupReport{}, err
	}
	if engine != CockroachDB {
		return BackupReport{}, ErrNoBackupSchedules
	}
	if err := requireIdentity(ctx, db, opts.Identity); err != nil {
		return BackupReport{}, err
	}
	database, err := currentDatabase(ctx, db)
	if err != nil {
		return BackupReport{}, err
	}
	existing, err := backupSchedules(ctx, db, database)
	if err != nil {
		return BackupReport{}, err
	}
	if err := changeSchedules(ctx, db, database, existing, opts); err != nil {
		return BackupReport{}, err
	}
	return backupReport(ctx, db, existing)
}

// backupSchedule is a schedule that exists.
type backupSchedule struct {
	id     int64
	label  string
	status string
}

const (
	schedulePaused = "PAUSED"

	sqlBackupSchedules = `SELECT id, label, schedule_status FROM [SHOW SCHEDULES FOR BACKUP] ORDER BY id`
	sqlScheduledJobs   = `SELECT status, COALESCE(error, ''), COALESCE(extract(epoch FROM finished)::INT8, 0) FROM [SHOW JOBS FOR SCHEDULE %d]`
	sqlResumeSchedule  = `RESUME SCHEDULE %d`
	sqlDropSchedule    = `DROP SCHEDULE %d`
)

// labelPrefix is the beginning of the labels of a database's schedules.
func labelPrefix(database string) string { return "plaza backup of " + quoteIdent(database) + " " }

// backupSchedules returns the schedules of Plaza for a database.
func backupSchedules(ctx context.Context, db *sql.DB, database string) ([]backupSchedule, error) {
	found, err := queryAll(ctx, db, func(s *backupSchedule) []any { return []any{&s.id, &s.label, &s.status} }, sqlBackupSchedules)
	if err != nil {
		return nil, fmt.Errorf("read the backup schedules: %w", err)
	}
	return slices.DeleteFunc(found, func(s backupSchedule) bool { return !strings.HasPrefix(s.label, labelPrefix(database)) }), nil
}

// changeSchedules creates the schedule of the options, if there is none, and removes the others.
func changeSchedules(ctx context.Context, db *sql.DB, database string, existing []backupSchedule, opts BackupOptions) error {
	wanted := ""
	if opts.Schedule != "" {
		wanted = labelPrefix(database) + opts.digest(database)
		if _, err := db.ExecContext(ctx, ScheduleStatement(database, wanted, opts)); err != nil {
			return fmt.Errorf("create the backup schedule: %w", err)
		}
	}
	for _, s := range existing {
		var change string
		switch {
		case s.label != wanted:
			change = sqlDropSchedule
		case s.status == schedulePaused:
			change = sqlResumeSchedule
		default:
			continue
		}
		if _, err := db.ExecContext(ctx, fmt.Sprintf(change, s.id)); err != nil {
			return fmt.Errorf("change the backup schedule %d: %w", s.id, err)
		}
	}
	return nil
}

// digest identifies the options, so that the label of a schedule shows whether it is that of the options. It is a part of the label,
// which more roles can read than the credentials: it is keyed, and short.
func (o BackupOptions) digest(database string) string {
	mac := hmac.New(sha256.New, []byte(o.Identity))
	mac.Write([]byte(ScheduleStatement(database, "", o)))
	return hex.EncodeToString(mac.Sum(nil))[:16]
}

// ScheduleStatement returns the statement that creates a backup schedule. A backup that fails does not change when the next one begins,
// and one that takes longer than the interval is not joined by another.
func ScheduleStatement(database, label string, o BackupOptions) string {
	destinations := make([]string, 0, len(o.Destinations))
	for _, destination := range o.Destinations {
		destinations = append(destinations, quoteText(destination))
	}
	return fmt.Sprintf("CREATE SCHEDULE IF NOT EXISTS %s FOR BACKUP DATABASE %s INTO (%s) RECURRING %s FULL BACKUP ALWAYS "+
		"WITH SCHEDULE OPTIONS first_run = 'now', on_execution_failure = 'reschedule', on_previous_running = 'wait', ignore_existing_backups",
		quoteText(label), quoteIdent(database), strings.Join(destinations, ", "), quoteText(o.Schedule))
}

// BackupStatements returns the statements of ApplyBackups, for the check against CockroachDB's grammar.
func BackupStatements() []string {
	one := BackupOptions{Schedule: "0 3 * * *", Destinations: []string{"s3://backups?AUTH=implicit"}}
	three := BackupOptions{Schedule: "@daily", Destinations: []string{
		"s3://us?AUTH=implicit&COCKROACH_LOCALITY=default",
		"s3://eu?AUTH=implicit&COCKROACH_LOCALITY=region%3Deurope-west1",
		"gs://sg?AUTH=implicit&COCKROACH_LOCALITY=region%3Dasia-southeast1",
	}}
	return []string{
		sqlBackupSchedules, fmt.Sprintf(sqlScheduledJobs, 1), fmt.Sprintf(sqlResumeSchedule, 1), fmt.Sprintf(sqlDropSchedule, 1),
		ScheduleStatement("plaza", "it's", one), ScheduleStatement("plaza", "plaza", three),
	}
}

// backupJob is a backup of a schedule.
type backupJob struct {
	status, failure string
	finished        int64 // Unix time
}

// backupReport returns the result of the newest backups of schedules.
func backupReport(ctx context.Context, db *sql.DB, schedules []backupSchedule) (BackupReport, error) {
	var report BackupReport
	var failed time.Time
	for _, s := range schedules {
		columns := func(j *backupJob) []any { return []any{&j.status, &j.failure, &j.finished} }
		jobs, err := queryAll(ctx, db, columns, fmt.Sprintf(sqlScheduledJobs, s.id))
		if err != nil {
			return report, fmt.Errorf("read the backups: %w", err)
		}
		for _, j := range jobs {
			at := time.Unix(j.finished, 0).UTC()
			switch {
			case j.status == "succeeded" && at.After(report.LastSuccess):
				report.LastSuccess = at
			case j.status == "failed" && at.After(failed):
				failed, report.LastError = at, j.failure
			}
		}
	}
	if !failed.After(report.LastSuccess) {
		report.LastError = ""
	}
	return report, nil
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
