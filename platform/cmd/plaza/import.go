package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/importer"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
)

// importFlags are the flags of plaza import.
type importFlags struct {
	from        int64
	skipInvalid string
}

func newImport() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Import users, communities, posts, channels and messages of another platform from JSON Lines",
		Long: "Import users, communities, posts, channels and messages of another platform from files of JSON Lines, or from standard input " +
			"without\n" +
			"a file or for the file -. platform/service/importer/README.md describes the format. Rows that exist are left as they are: an " +
			"import that was\n" +
			"interrupted is continued by repeating it, or faster with the --from that it prints. Progress goes to standard error. Requires\n" +
			"region, network-id, directory-key and database-url. Exit codes: 0 success, 1 failure, such as a line that cannot be imported,\n" +
			"2 invalid flags or configuration, 75 failure that a retry may fix (the database is unavailable or busy).",
		RunE: func(cmd *cobra.Command, files []string) error { return importFiles(cmd, f, files) },
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().Int64Var(&f.from, "from", 1, "number of the line of the first file to begin with")
	cmd.Flags().StringVar(&f.skipInvalid, "skip-invalid", "",
		"file to which lines that cannot be imported are appended; without it, the first one ends the import")
	return cmd
}

func importFiles(cmd *cobra.Command, f importFlags, files []string) error {
	if f.from < 1 {
		return &usageError{errors.New("--from must be at least 1")}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	cfg, err := loadConfig(cmd, "region", "network-id", "directory-key", "database-url")
	if err != nil {
		return err
	}
	log, _ := newLogger(cmd, cfg)
	st, err := openForImport(cmd, cfg, log)
	if err != nil {
		return err
	}
	defer st.Close()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	// Users do not move at once until a minute after the end of the import.
	process := network.Server{ID: region.NewID(cfg.Region), Version: "import", Capabilities: []string{network.CapabilityMoves}}
	if err := app.FollowMoves(ctx, st, process, cfg.Region, log); err != nil {
		return databaseFailure(err, cfg)
	}
	run, err := newImportRun(cmd, cfg, f, st, log)
	if err != nil {
		return err
	}
	return errors.Join(run.files(ctx, files), run.close())
}

// importTimeout bounds a batch: it writes many rows, and no request waits for it.
const importTimeout = 30 * time.Second

// openForImport opens the database of a network, which must have the schema and the identity that a server requires.
func openForImport(cmd *cobra.Command, cfg config.Config, log *slog.Logger) (*store.Store, error) {
	st, err := store.Open(cmd.Context(), db.Config{
		URLs: cfg.DatabaseURLs(), PoolSize: int32(cfg.PoolSize), StatementTimeout: max(cfg.StatementTimeout.Std(), importTimeout), Log: log,
	})
	if err != nil {
		return nil, databaseFailure(err, cfg)
	}
	status, err := st.Status(cmd.Context(), cfg.Region)
	if err == nil {
		err = status.Check(db.NetworkIdentity(string(cfg.NetworkID), cfg.DirectoryKey.Reveal()))
	}
	if err != nil {
		st.Close()
		return nil, databaseFailure(err, cfg)
	}
	return st, nil
}

// importRun is one run of plaza import.
type importRun struct {
	cfg      config.Config
	importer *importer.Importer
	progress importProgress
	stdin    io.Reader
	from     int64
	rejected *os.File // nil if the first line that cannot be imported ends the import
}

func newImportRun(cmd *cobra.Command, cfg config.Config, f importFlags, st *store.Store, log *slog.Logger) (*importRun, error) {
	requests, err := edge.NewRequests(importer.Requests()...)
	if err != nil {
		return nil, err
	}
	run := &importRun{cfg: cfg, progress: importProgress{out: cmd.ErrOrStderr(), began: time.Now()}, stdin: cmd.InOrStdin(), from: f.from}
	o := importer.Options{
		Store: st, Directory: directory.New(st, cfg.Region, []byte(cfg.DirectoryKey.Reveal()), service.Millis, log),
		Region: cfg.Region, Now: service.Millis, NewID: region.NewID, Decode: requests.Decode, Progress: run.progress.sometimes,
	}
	if f.skipInvalid != "" {
		if run.rejected, err = os.OpenFile(f.skipInvalid, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, fmt.Errorf("--skip-invalid: %w", err)
		}
		o.Reject = run.reject
	}
	run.importer = importer.New(o)
	return run, nil
}

func (r *importRun) close() error {
	if r.rejected == nil {
		return nil
	}
	return r.rejected.Close()
}

// reject prints why a line cannot be imported, and keeps the line.
func (r *importRun) reject(reason *importer.LineError, line []byte) error {
	_, _ = fmt.Fprintln(r.progress.out, "rejected", reason)
	_, err := r.rejected.Write(append(line, '\n'))
	return err
}

// files imports files in their order.
func (r *importRun) files(ctx context.Context, files []string) error {
	for n, name := range files {
		at, err := r.file(ctx, name)
		if err != nil {
			r.progress.stopped(at, files[n:])
			return r.failure(err)
		}
		r.from = 1
	}
	r.progress.finished()
	return nil
}

func (r *importRun) file(ctx context.Context, name string) (importer.Progress, error) {
	if name == "-" {
		return r.importer.Import(ctx, "standard input", r.stdin, r.from)
	}
	file, err := os.Open(name)
	if err != nil {
		return importer.Progress{Line: r.from - 1}, err
	}
	defer func() { _ = file.Close() }() // it is only read
	return r.importer.Import(ctx, name, file, r.from)
}

// failure returns the error of the command for one of the importer.
func (r *importRun) failure(err error) error {
	_, isLine := errors.AsType[*importer.LineError](err)
	_, isFile := errors.AsType[*os.PathError](err)
	switch {
	case isLine, isFile:
		return err
	case errors.Is(err, context.Canceled):
		return errors.New("the import was interrupted")
	}
	return databaseFailure(err, r.cfg)
}
