package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/backup"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// backupFlags are the flags of plaza migrate backups.
type backupFlags struct {
	schedule, terminationLog  string
	retention                 time.Duration
	destinations, credentials []string
}

func newMigrateBackups() *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use:   "backups",
		Short: "Schedule the backups of a CockroachDB database, and delete old ones",
		Long: "Make CockroachDB have one backup schedule of the database as the flags describe it, or none without --schedule, delete " +
			"backups that are\n" +
			"older than --retention, and print when the last backup succeeded. The command is idempotent. On PostgreSQL it changes nothing: " +
			"that is\n" +
			"backed up by its own means. Exit codes: as of plaza migrate up.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadMigrationConfig(cmd)
			var run *backupRun
			if err == nil {
				run, err = newBackupRun(cfg, f)
			}
			report := statusz.Backups{State: statusz.BackupsFailed}
			if err == nil {
				report, err = run.apply(cmd.Context(), time.Now())
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), describeBackups(report))
			}
			if f.terminationLog == "" {
				return err
			}
			text := ""
			if err != nil {
				text = oneLine(err)
			}
			return errors.Join(err, writeTerminationLog(f.terminationLog, report.Log(text, maxTerminationLog)))
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&f.schedule, "schedule", "",
		"when full backups begin, in cron form and UTC, such as 0 3 * * *; without it, the schedule is removed")
	cmd.Flags().DurationVar(&f.retention, "retention", 0, "how long backups are kept; 0 keeps all")
	cmd.Flags().StringArrayVar(&f.destinations, "destination", nil,
		"bucket for the rows of a home, such as us=s3://bucket/folder?region=us-east-1 or eu=gs://bucket; one for each home")
	cmd.Flags().StringArrayVar(&f.credentials, "credentials", nil,
		"folder with the files of the credentials of a home's bucket, such as us=/etc/plaza/backup/us; by default the identity of the "+
			"database's nodes is used")
	cmd.Flags().StringVar(&f.terminationLog, "termination-log", "",
		"file to which the error (one line) and the result (one line of JSON) are written")
	return cmd
}

// backupRun is one run of plaza migrate backups.
type backupRun struct {
	cfg          config.Config
	flags        backupFlags
	destinations []backup.Destination // in the order of the homes
}

func newBackupRun(cfg config.Config, f backupFlags) (*backupRun, error) {
	r := &backupRun{cfg: cfg, flags: f}
	if f.schedule == "" {
		return r, nil
	}
	if _, err := cron.ParseStandard(f.schedule); err != nil {
		return nil, &usageError{fmt.Errorf("--schedule: %w", err)}
	}
	if f.retention < 0 {
		return nil, &usageError{errors.New("--retention must not be negative")}
	}
	byHome, err := parseDestinations(f)
	if err != nil {
		return nil, &usageError{err}
	}
	for _, home := range region.All() {
		d, exists := byHome[home]
		if !exists {
			return nil, &usageError{fmt.Errorf("--destination lacks %s: its rows would be stored with those of another home", home)}
		}
		r.destinations = append(r.destinations, d)
	}
	return r, nil
}

// parseDestinations returns the destinations of the flags with their credentials.
func parseDestinations(f backupFlags) (map[region.Code]backup.Destination, error) {
	folders := map[region.Code]string{}
	for _, text := range f.credentials {
		code, folder, _ := strings.Cut(text, "=")
		folders[region.Code(code)] = folder
	}
	found := map[region.Code]backup.Destination{}
	for _, text := range f.destinations {
		d, err := backup.ParseDestination(text)
		if err != nil {
			return nil, fmt.Errorf("--destination: %w", err)
		}
		if folder := folders[d.Home]; folder != "" {
			if err := d.ReadCredentials(folder); err != nil {
				return nil, fmt.Errorf("--credentials: %w", err)
			}
		}
		found[d.Home] = d
	}
	return found, nil
}

// apply applies the schedule and deletes old backups.
func (r *backupRun) apply(ctx context.Context, now time.Time) (statusz.Backups, error) {
	found, err := db.ApplyBackups(ctx, db.BackupOptions{
		URL: r.cfg.MigrationURL().Reveal(), Identity: identityOf(r.cfg), Schedule: r.flags.schedule, Destinations: r.uris(),
	})
	report := statusz.Backups{State: statusz.BackupsScheduled, LastSuccess: found.LastSuccess, LastError: r.scrub(found.LastError)}
	switch {
	case errors.Is(err, db.ErrNoBackupSchedules):
		return statusz.Backups{State: statusz.BackupsUnsupported}, nil
	case err != nil:
		return statusz.Backups{State: statusz.BackupsFailed}, &databaseError{text: r.scrub(oneLine(err)), cause: err}
	case r.flags.schedule == "":
		return statusz.Backups{State: statusz.BackupsRemoved}, nil
	}
	if err := r.prune(ctx, found.LastSuccess, now); err != nil {
		report.State = statusz.BackupsFailed
		return report, errors.New(r.scrub(oneLine(err)))
	}
	return report, nil
}

// uris returns the addresses of the backup: one, if all homes have the same, otherwise one by locality, and that of the primary region for
// what belongs to no locality.
func (r *backupRun) uris() []string {
	var uris []string
	for _, d := range r.destinations {
		locality := "region=" + r.cfg.Localities()[d.Home]
		if d.Home == cmp.Or(r.cfg.PrimaryRegion, region.US) {
			locality = "default"
		}
		uris = append(uris, d.URI(locality))
	}
	if len(r.distinct()) == 1 {
		return []string{r.destinations[0].URI("")}
	}
	return uris
}

// distinct returns the destinations without repetitions. Buckets of one name at different endpoints are different.
func (r *backupRun) distinct() []backup.Destination {
	var out []backup.Destination
	seen := map[string]bool{}
	for _, d := range r.destinations {
		if at := d.Endpoint + " " + d.String(); !seen[at] {
			seen[at] = true
			out = append(out, d)
		}
	}
	return out
}

// prune deletes backups that are older than the retention.
func (r *backupRun) prune(ctx context.Context, lastSuccess, now time.Time) error {
	if r.flags.retention == 0 || lastSuccess.IsZero() {
		return nil
	}
	before := oldestKept(lastSuccess, now, r.flags.retention)
	for _, d := range r.distinct() {
		bucket, err := d.Open(ctx)
		if err != nil {
			return err
		}
		_, err = backup.Prune(ctx, bucket, before)
		if err := errors.Join(err, bucket.Close()); err != nil {
			return fmt.Errorf("the retention of the backups of %s: %w", d.Home, err)
		}
	}
	return nil
}

// longestBackup is how long a backup may take: its end is known, and the time of its beginning is the name of its folder.
const longestBackup = 24 * time.Hour

// oldestKept returns the time before which backups are deleted. The newest successful one is always kept, however old it is.
func oldestKept(lastSuccess, now time.Time, retention time.Duration) time.Time {
	before := now.Add(-retention)
	if newest := lastSuccess.Add(-longestBackup); newest.Before(before) {
		return newest
	}
	return before
}

// scrub removes the credentials of the buckets and of the database from a text.
func (r *backupRun) scrub(text string) string {
	return scrub(backup.Redact(text, r.destinations), r.cfg)
}

func describeBackups(b statusz.Backups) string {
	switch {
	case b.State == statusz.BackupsUnsupported:
		return "the database is PostgreSQL: back it up by its own means"
	case b.State == statusz.BackupsRemoved:
		return "the database has no backup schedule of Plaza"
	case b.LastError != "":
		return "backups are scheduled; the last one failed: " + b.LastError
	case b.LastSuccess.IsZero():
		return "backups are scheduled; none has succeeded yet"
	}
	return "backups are scheduled; the last one succeeded at " + b.LastSuccess.Format(time.RFC3339)
}
